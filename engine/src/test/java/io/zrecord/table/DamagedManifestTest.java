package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.repair.RepairReport;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Manifests and shard lists are untrusted: every damage is found, named, and cheap. */
final class DamagedManifestTest {
  @TempDir
  Path directory;

  private RecordTable table;

  @BeforeEach
  void create() {
    Storage storage = LocalStorage.at(directory);
    table = RecordTable.at(storage);
    ShardSummary shard = Shards.write(storage, Shards.SCHEMA, 1, 2, 3);
    table.commit(Shards.append(OptionalLong.empty(), shard));
    table.commit(Shards.append(OptionalLong.of(0), Shards.write(storage, Shards.SCHEMA, 4)));
  }

  private Path manifest(int version) {
    return directory.resolve("manifest").resolve(String.format("%020d.json", version));
  }

  private static byte[] sealed(String json) {
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    String seal =
        ",\"crc32c\":\"" + HexFormat.of().toHexDigits(Crc32c.of(body, 0, body.length)) + "\"}\n";
    return (json + seal).getBytes(StandardCharsets.UTF_8);
  }

  /** Changes the body of the manifest of version 1, and seals it again. */
  private void rewrite(String from, String to) throws IOException {
    rewrite(1, from, to);
  }

  private void rewrite(int version, String from, String to) throws IOException {
    String text = Files.readString(manifest(version));
    String body = text.substring(0, text.lastIndexOf(",\"crc32c\""));
    assertThat(body).contains(from);
    Files.write(manifest(version), sealed(body.replace(from, to)));
  }

  @Test
  void everyFlippedBitOfAManifestIsFound() throws IOException {
    everyFlippedBitIsFound(manifest(1), CorruptDataException.class);
  }

  @Test
  void everyFlippedBitOfAListIsFound() throws IOException {
    ShardSummary shard = table.latest().shards().get(1);
    ShardSummary[] copies = Collections.nCopies(1000, shard).toArray(ShardSummary[]::new);
    table.commit(Shards.append(OptionalLong.of(1), copies));
    try (var lists = Files.list(directory.resolve("list"))) {
      Path list = lists.findFirst().orElseThrow();
      byte[] content = Files.readAllBytes(list);
      for (int bit = 0; bit < content.length * 8; bit += 9973) {
        flip(list, content, bit);
        assertThatThrownBy(table::latest)
            .as("bit %d", bit)
            .isInstanceOf(CorruptDataException.class);
      }
      Files.delete(list);
      assertThatThrownBy(table::latest)
          .isInstanceOf(MissingFileException.class)
          .hasMessageContaining(list.toString());
    }
    assertThat(table.version(1).length()).isEqualTo(4);
  }

  private void everyFlippedBitIsFound(Path file, Class<? extends ZRecordException> expected)
      throws IOException {
    byte[] content = Files.readAllBytes(file);
    for (int bit = 0; bit < content.length * 8; bit++) {
      flip(file, content, bit);
      assertThatThrownBy(table::latest)
          .as("bit %d", bit)
          .isInstanceOf(expected)
          .hasMessageContaining(file.toString());
    }
  }

  private static void flip(Path file, byte[] content, int bit) throws IOException {
    byte[] flipped = content.clone();
    flipped[bit / 8] ^= (byte) (1 << (bit % 8));
    Files.write(file, flipped);
  }

  @Test
  void everyTruncationIsFound() throws IOException {
    byte[] content = Files.readAllBytes(manifest(1));
    for (int length = 0; length < content.length; length++) {
      Files.write(manifest(1), java.util.Arrays.copyOf(content, length));
      assertThatThrownBy(table::latest).isInstanceOf(CorruptDataException.class);
    }
  }

  @Test
  void garbageNamesTheFileAndTheWayOut() throws IOException {
    Files.writeString(manifest(1), "not json at all, but long enough to hold a seal");
    assertThatThrownBy(table::latest)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(manifest(1).toString())
        .hasMessageContaining("versionAsOf");
    assertThat(table.version(0).length()).isEqualTo(3);
  }

  @Test
  void aNewerFormatIsRefused() throws IOException {
    rewrite("{\"format\":1", "{\"format\":2");
    assertThatThrownBy(table::latest)
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining(manifest(1).toString())
        .hasMessageContaining("upgrade");
  }

  @Test
  void aNewestVersionOfANewerFormatIsNotMovedAside() throws IOException {
    rewrite("{\"format\":1", "{\"format\":2");
    assertThatThrownBy(() -> DatasetCheck.of(directory).run(finding -> {}))
        .isInstanceOf(UnsupportedFormatException.class);
    assertThatThrownBy(
            () -> DatasetRepair.of(directory).restoringPrevious().run(finding -> {}, plan -> true))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining(manifest(1).toString());
    assertThat(manifest(1)).exists();
  }

  /** As a file that the system refuses to read; a directory is refused whoever asks. */
  @Test
  void aNewestVersionThatCannotBeReadIsNotMovedAside() throws IOException {
    Files.delete(manifest(1));
    Files.createDirectory(manifest(1));
    assertThatThrownBy(() -> DatasetRepair.of(directory)
            .restoringPrevious()
            .run(finding -> {}, plan -> {
              throw new AssertionError(plan.toString());
            }))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining(manifest(1).toString());
    assertThat(manifest(1)).exists();
  }

  private RepairReport repairRestoringPrevious() {
    return DatasetRepair.of(directory).restoringPrevious().run(finding -> {}, plan -> true);
  }

  /** The next commit takes the number, and the tag would name that. */
  @Test
  void aDamagedVersionThatHasATagIsNotGivenUp() throws IOException {
    table.tag(0, "older");
    table.tag(1, "release");
    rewrite("\"length\":1", "\"length\":2");
    RepairReport refused = repairRestoringPrevious();
    assertThat(refused.isDone()).isFalse();
    assertThat(refused.plan().actions()).isEmpty();
    assertThat(refused.plan().remaining())
        .anyMatch(text ->
            text.contains("zrecord untag " + directory + " release") && !text.contains("older"));
    assertThat(manifest(1)).exists();
    table.untag("release");
    assertThat(repairRestoringPrevious().isDone()).isTrue();
    assertThat(table.latest().version()).isZero();
    assertThat(table.tagged("older").version()).isZero();
  }

  @Test
  void aDamagedTagMayNameTheDamagedVersion() throws IOException {
    table.tag(0, "unknown");
    Files.writeString(directory.resolve("tag/unknown.json"), "damaged");
    rewrite("\"length\":1", "\"length\":2");
    assertThat(repairRestoringPrevious().plan().remaining())
        .anyMatch(text -> text.contains("zrecord untag " + directory + " unknown"));
    assertThat(manifest(1)).exists();
    table.untag("unknown");
    assertThat(repairRestoringPrevious().isDone()).isTrue();
  }

  @Test
  void aVersionThatIsTaggedWhileThePlanIsLookedAtIsNotGivenUp() throws IOException {
    rewrite("\"length\":1", "\"length\":2");
    assertThatThrownBy(() -> DatasetRepair.of(directory)
            .restoringPrevious()
            .run(finding -> {}, plan -> {
              table.tag(1, "release");
              return true;
            }))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("release");
    assertThat(manifest(1)).exists();
  }

  /** Of the same number, and another one. */
  @Test
  void whatWasPlannedOnAVersionThatWasGivenUpIsNotCommitted() throws IOException {
    TableSnapshot planned = table.latest();
    TableChange overwrite = new TableChange(
        UUID.randomUUID(),
        TableChange.Kind.OVERWRITE,
        Optional.of(planned),
        Shards.SCHEMA,
        List.of(Shards.write(table.storage(), Shards.SCHEMA, 5)),
        Optional.empty(),
        Map.of());
    TableChange relayout = TableChange.relayout(
        planned,
        List.of(Shards.write(table.storage(), Shards.SCHEMA, 4, 3, 2, 1)),
        Shards.write(table.storage(), IndexMap.SCHEMA, 3, 2, 1, 0),
        Map.of());
    Files.write(manifest(1), new byte[0]);
    assertThat(repairRestoringPrevious().isDone()).isTrue();
    ShardSummary other = Shards.write(table.storage(), Shards.SCHEMA, 6);
    assertThat(table.commit(Shards.append(OptionalLong.of(0), other)).version()).isOne();
    for (TableChange change : List.of(overwrite, relayout)) {
      assertThatThrownBy(() -> table.commit(change))
          .isInstanceOf(CommitConflictException.class)
          .hasMessageContaining("version 1 is another one");
    }
    assertThat(table.latest().shards()).contains(other);
  }

  /** It may say of what more is needed than this release knows. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void nothingIsDeletedBesideAVersionOfANewerFormat(int newer) throws IOException {
    table.commit(
        Shards.append(OptionalLong.of(1), Shards.write(table.storage(), Shards.SCHEMA, 5)));
    RecordTable later = RecordTable.at(
        table.storage(), InstantSource.offset(InstantSource.system(), Duration.ofDays(300)));
    rewrite(newer, "{\"format\":1", "{\"format\":2");
    assertThatThrownBy(() -> later.expire(ExpireOptions.defaults()))
        .isInstanceOf(UnsupportedFormatException.class);
    assertThatThrownBy(
            () -> later.sweep(SweepOptions.defaults().withMode(CareMode.DELETE), orphan -> {}))
        .isInstanceOf(UnsupportedFormatException.class);
    assertThat(table.versions()).containsExactly(0L, 1L, 2L);
    assertThat(table.storage().list("shard")).hasSize(3);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"version\":1|\"version\":2",
        "\"version\":1|\"version\":-1",
        "\"version\":1|\"version\":1.5",
        "\"length\":4|\"length\":5",
        "\"length\":3|\"length\":0",
        "\"length\":3|\"length\":99999999999999999999",
        "\"nextFieldId\":2|\"nextFieldId\":1",
        "\"meta\":\"meta.json\"|\"meta\":\"../../../etc/passwd\"",
        "\"meta\":\"meta.json\"|\"meta\":\"\"",
        "\"lists\":[]|\"lists\":[{\"file\":\"../x\",\"shards\":1,\"length\":1}]",
        "\"lists\":[]|\"lists\":{}",
        "\"format\":1|\"format\":1,\"format\":1",
        "\"dtype\":\"i64\"|\"dtype\":\"i65\"",
        "\"uuid\":\"|\"uuid\":\"../",
        "\"shards\":[|\"shards\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],",
      })
  void whatIsSealedButSenselessIsCorrupt(String change) throws IOException {
    String[] fromTo = change.split("\\|", 2);
    rewrite(fromTo[0], fromTo[1]);
    assertThatThrownBy(table::latest)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(manifest(1).toString());
  }

  @Test
  void aFileBeyondTheLimitIsNotEvenRead() throws IOException {
    try (var file = new java.io.RandomAccessFile(manifest(1).toFile(), "rw")) {
      file.setLength(1L << 40);
    }
    assertThatThrownBy(table::latest).isInstanceOf(CorruptDataException.class);
  }

  @Test
  void deepOrLongContentIsRefused() throws IOException {
    for (String bomb : new String[] {
      "{\"a\":" + "[".repeat(1_000_000),
      "{\"a\":" + "9".repeat(1_000_000),
      "{\"a\":\"" + "x".repeat(30_000_000) + "\""
    }) {
      Files.write(manifest(1), sealed(bomb));
      assertThatThrownBy(table::latest).isInstanceOf(CorruptDataException.class);
    }
  }

  @Test
  void foreignNamesAreIgnored() throws IOException {
    for (String name : new String[] {
      "x.json",
      "00000000000000000002.json.tmp",
      ".00000000000000000009.json.crc",
      "99999999999999999999.json",
      "2.json"
    }) {
      Files.writeString(directory.resolve("manifest").resolve(name), "x");
    }
    assertThat(table.versions()).containsExactly(0L, 1L);
    assertThat(table.latest().length()).isEqualTo(4);
  }
}
