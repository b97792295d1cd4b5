package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.StoredFile;
import io.zrecord.testing.Cases;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Manifests and shard lists are untrusted: every damage is found, named, and cheap. */
final class DamagedManifestTest extends ManifestFiles {
  private static final String FILE = "\"file\":\"tag/8f14e45f-ceea-467f-9575-5a1f0a2b0000.json\"";

  private static final String COPY =
      "\"timestampMillis\":1," + FILE + ",\"bytes\":9,\"crc\":\"5d1f0a2b\"";

  private static final String OF_0 = "\"version\":0," + COPY;

  private static final String TAG = "\"name\":\"a\"," + OF_0;

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
        assertThatThrownBy(() -> table.latest().shards().get(0))
            .as("bit %d", bit)
            .isInstanceOf(CorruptDataException.class);
      }
      Files.delete(list);
      assertThatThrownBy(() -> table.latest().shards().get(0))
          .isInstanceOf(MissingFileException.class)
          .hasMessageContaining(list.toString());
    }
    assertThat(table.version(1).length()).isEqualTo(4);
  }

  /** Each of them is whole and sealed. */
  @Test
  void aListExchangedForAnotherWithTheSameCountsIsFound() throws IOException {
    List<Path> lists = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (int version = 2; version < 4; version++) {
      ShardSummary shard = Shards.write(table.storage(), Shards.SCHEMA, version);
      table.commit(Shards.change(
          TableChange.Kind.OVERWRITE,
          OptionalLong.of(version - 1),
          Shards.SCHEMA,
          Collections.nCopies(1001, shard)));
      table.storage().list("list").stream()
          .map(StoredFile::name)
          .filter(name -> !names.contains(name))
          .forEach(names::add);
    }
    names.forEach(name -> lists.add(directory.resolve("list").resolve(name)));
    assertThat(lists).hasSize(2);
    assertThat(Files.size(lists.get(0))).isEqualTo(Files.size(lists.get(1)));
    assertThat(table.latest().length()).isEqualTo(1001);
    Files.copy(lists.get(0), lists.get(1), StandardCopyOption.REPLACE_EXISTING);
    assertThatThrownBy(() -> table.latest().shards().get(0))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(lists.get(1).toString())
        .hasMessageContaining("the manifest says");
    assertThat(DatasetCheck.of(directory.toString()).run(finding -> {}).isSound())
        .isFalse();
  }

  private void everyFlippedBitIsFound(Path file, Class<? extends ZRecordException> expected)
      throws IOException {
    byte[] content = Files.readAllBytes(file);
    for (long bit : Cases.before(content.length * 8L)) {
      flip(file, content, (int) bit);
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
    for (long length : Cases.before(content.length)) {
      Files.write(manifest(1), java.util.Arrays.copyOf(content, (int) length));
      assertThatThrownBy(table::latest)
          .as("length %d", length)
          .isInstanceOf(CorruptDataException.class);
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
    rewrite("{\"format\":2", "{\"format\":3");
    assertThatThrownBy(table::latest)
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining(manifest(1).toString())
        .hasMessageContaining("upgrade");
  }

  @Test
  void aFormatOfBeforeIsRefused() throws IOException {
    rewrite("{\"format\":2", "{\"format\":1");
    assertThatThrownBy(table::latest)
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining(manifest(1).toString())
        .hasMessageContaining("format version 1 was never released; write the dataset again");
  }

  @Test
  void aDamagedVersionThatHasATagIsReadByItsCopy() throws IOException {
    table.tag(1, "release");
    rewrite("\"length\":1", "\"length\":2");
    assertThat(table.version(1).length()).isEqualTo(4);
    assertThat(table.tagged("release").length()).isEqualTo(4);
    Files.delete(manifest(1));
    assertThat(table.version(1).length()).isEqualTo(4);
    // The control: without its copy it is lost.
    table.untag("release");
    assertThatThrownBy(() -> table.version(1)).isInstanceOf(MissingFileException.class);
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
        "\"chunks\":[[\"|\"chunks\":[[\"../../../etc/passwd",
        "\"chunks\":[|\"chunks\":[7,",
        "\"tables\":[[\"|\"tables\":[[\"../",
        "\"tables\":[[|\"tables\":[[1,",
        "\"tables\":[[|\"tables\":[[],[",
        "\"fieldSets\":[[1]]|\"fieldSets\":[]",
        "\"fieldSets\":[[1]]|\"fieldSets\":[[1,1]]",
        "\"fieldSets\":[[1]]|\"fieldSets\":[[0]]",
        "\"fieldSets\":|\"sets\":",
        "\"lists\":[]|\"lists\":[{\"file\":\"../x\",\"shards\":1,\"length\":1,\"bytes\":1,"
            + "\"crc\":\"5d1f0a2b\"}]",
        "\"lists\":[]|\"lists\":{}",
        "\"format\":2|\"format\":2,\"format\":2",
        "\"uuid\":\"|\"uuid\":\"../",
        "\"previous\":|\"before\":",
        "\"previous\":\"|\"previous\":\"x",
        "\"base\":0|\"base\":1",
        "\"base\":0|\"base\":-1",
        "\"oldest\":0|\"oldest\":2",
        "\"oldest\":0|\"oldest\":-1",
        "\"oldest\":|\"newest\":",
        "\"records\":|\"recorded\":",
        "\"records\":{\"version\":1|\"records\":{\"version\":0",
        "\"operation\":\"append\"|\"operation\":\"tag\"",
        "\"tags\":|\"tagged\":",
        "\"tags\":[]|\"tags\":{}",
        "\"tags\":[]|\"tags\":[{" + TAG + "},{" + TAG + "}]",
        "\"tags\":[]|\"tags\":[{\"name\":\"b\"," + OF_0 + "},{\"name\":\"a\"," + OF_0 + "}]",
        "\"tags\":[]|\"tags\":[{\"name\":\"a\",\"version\":1," + COPY + "}]",
        "\"tags\":[]|\"tags\":[{\"name\":\"a\",\"version\":-1," + COPY + "}]",
        "\"tags\":[]|\"tags\":[{\"name\":\"7\"," + OF_0 + "}]",
        "\"tags\":[]|\"tags\":[{\"name\":\"../x\"," + OF_0 + "}]",
        "\"tags\":[]|\"tags\":[{\"name\":\"a\",\"version\":0,\"timestampMillis\":1,"
            + "\"file\":\"../x\",\"bytes\":9,\"crc\":\"5d1f0a2b\"}]",
        "\"tags\":[]|\"tags\":[{\"name\":\"a\",\"version\":0,\"timestampMillis\":1," + FILE
            + ",\"bytes\":0,\"crc\":\"5d1f0a2b\"}]",
        "\"tags\":[]|\"tags\":[{\"name\":\"a\",\"version\":0,\"timestampMillis\":1," + FILE
            + ",\"bytes\":9,\"crc\":\"5d1f\"}]",
        "\"shards\":[|\"shards\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]],",
      })
  void whatIsSealedButSenselessIsCorrupt(String change) throws IOException {
    String[] fromTo = change.split("\\|", 2);
    rewrite(fromTo[0], fromTo[1]);
    assertThatThrownBy(table::latest)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(manifest(1).toString());
  }

  /** The control of the tags above. */
  @Test
  void whatIsSealedAndMakesSenseIsRead() throws IOException {
    rewrite("\"tags\":[]", "\"tags\":[{" + TAG + "},{\"name\":\"b\"," + OF_0 + "}]");
    assertThat(table.tags()).extracting(Tag::name).containsExactly("a", "b");
    assertThat(table.tagged("a").version()).as("its manifest is there").isZero();
  }

  @Test
  void theFirstVersionFollowsNoOther() throws IOException {
    rewrite(0, "\"records\":", "\"previous\":\"" + UUID.randomUUID() + "\",\"records\":");
    assertThatThrownBy(() -> table.version(0))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("previous");
  }

  @Test
  void moreTagsThanAreAllowedAreRefusedBeforeTheyAreWrittenAndWhenTheyAreRead() throws IOException {
    rewrite("\"tags\":[]", "\"tags\":[" + tags(10_000) + "]");
    assertThat(table.tags()).hasSize(10_000);
    assertThatThrownBy(() -> table.tag(0, "a"))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("at most 10000");
    assertThat(table.latest().version()).isOne();
    rewrite("\"tags\":[", "\"tags\":[{" + TAG + "},");
    assertThatThrownBy(table::latest)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("10001");
  }

  private static String tags(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> String.format("{\"name\":\"t%05d\"," + OF_0 + "}", i))
        .collect(Collectors.joining(","));
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

  /** Also in members that nobody knows; the characters are UTF-16 units. */
  @Test
  void unknownMembersHaveLimits() throws IOException {
    String clef = "\ud834\udd1e";
    Map<String, Boolean> members = Map.of(
        "\"later\":\"" + "x".repeat(1 << 20) + "\"", true,
        "\"later\":\"" + "x".repeat((1 << 20) + 1) + "\"", false,
        "\"later\":[{\"a\":\"" + clef.repeat(1 << 19) + "\"}]", true,
        "\"later\":[{\"a\":[\"" + clef.repeat(1 << 19) + "x\"]}]", false,
        "\"later\":-" + "9".repeat(1000), true,
        "\"later\":[0." + "9".repeat(1000) + "]", false,
        "\"" + clef.repeat(512) + "\":1", true,
        "\"" + clef.repeat(512) + "x\":1", false);
    String sound = Files.readString(manifest(1));
    members.forEach((member, isSound) -> {
      try {
        Files.writeString(manifest(1), sound);
        rewrite("{\"format\":2", "{" + member + ",\"format\":2");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      String about = member.substring(0, 20);
      if (isSound) {
        assertThat(table.latest().length()).as(about).isEqualTo(4);
      } else {
        assertThatThrownBy(table::latest).as(about).isInstanceOf(CorruptDataException.class);
      }
    });
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
    Files.createDirectory(manifest(2));
    assertThat(table.versions()).containsExactly(0L, 1L);
    assertThat(table.latest().length()).isEqualTo(4);
  }

  /** It may say of what more is needed than this release knows. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void nothingIsDeletedBesideAVersionOfANewerFormat(int newer) throws IOException {
    table.commit(
        Shards.append(OptionalLong.of(1), Shards.write(table.storage(), Shards.SCHEMA, 5)));
    RecordTable later = LaterTable.of(table.storage());
    rewrite(newer, "{\"format\":2", "{\"format\":3");
    assertThatThrownBy(() -> later.expire(ExpireOptions.defaults()))
        .isInstanceOf(UnsupportedFormatException.class);
    assertThatThrownBy(
            () -> later.sweep(SweepOptions.defaults().withMode(CareMode.DELETE), orphan -> {}))
        .isInstanceOf(UnsupportedFormatException.class);
    assertThat(new ManifestLog(table.storage()).listed()).containsExactly(0L, 1L, 2L);
    assertThat(table.storage().list("shard")).hasSize(3);
  }
}
