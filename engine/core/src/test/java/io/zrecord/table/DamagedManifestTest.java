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
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.repair.RepairReport;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.Cases;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Manifests and shard lists are untrusted: every damage is found, named, and cheap. */
final class DamagedManifestTest {
  private static final String FILE = "\"file\":\"tag/8f14e45f-ceea-467f-9575-5a1f0a2b0000.json\"";
  private static final String COPY =
      "\"timestampMillis\":1," + FILE + ",\"bytes\":9,\"crc\":\"5d1f0a2b\"";
  private static final String OF_0 = "\"version\":0," + COPY;
  private static final String TAG = "\"name\":\"a\"," + OF_0;

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
  void aNewestVersionOfANewerFormatIsNotMovedAside() throws IOException {
    rewrite("{\"format\":2", "{\"format\":3");
    assertThatThrownBy(() -> DatasetCheck.of(directory.toString()).run(finding -> {}))
        .isInstanceOf(UnsupportedFormatException.class);
    assertThatThrownBy(() -> DatasetRepair.of(directory.toString())
            .restoringPrevious()
            .run(finding -> {}, plan -> true))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining(manifest(1).toString());
    assertThat(manifest(1)).exists();
  }

  /** As a file that the system refuses to read; a link to itself is refused whoever asks. */
  @Test
  void aNewestVersionThatCannotBeReadIsNotMovedAside() throws IOException {
    Files.delete(manifest(1));
    Files.createSymbolicLink(manifest(1), manifest(1).getFileName());
    assertThatThrownBy(() -> DatasetRepair.of(directory.toString())
            .restoringPrevious()
            .run(finding -> {}, plan -> {
              throw new AssertionError(plan.toString());
            }))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining(manifest(1).toString());
    assertThat(Files.isSymbolicLink(manifest(1))).isTrue();
  }

  private RepairReport repairRestoringPrevious() {
    return DatasetRepair.of(directory.toString())
        .restoringPrevious()
        .run(finding -> {}, plan -> true);
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

  @Test
  void tagsThatARepairGivesUpAreGivenAgain() throws IOException {
    table.tag(0, "older");
    table.tag(1, "release");
    Files.writeString(manifest(3), "damaged");
    assertThat(table.storage().list("tag")).hasSize(2);
    // Copies of nothing that this table has.
    Files.writeString(tagFile(), "damaged");
    Files.write(tagFile(), sealed("{\"version\":0"));
    RepairReport report = repairRestoringPrevious();
    assertThat(report.isDone()).isTrue();
    assertThat(report.plan().actions())
        .filteredOn(text -> text.contains("tag version 1 as 'recovered-1'"))
        .hasSize(1);
    assertThat(table.tags()).extracting(Tag::name).containsExactly("older", "recovered-1");
    assertThat(table.tagged("older").version()).isZero();
    assertThat(table.tagged("recovered-1").version()).isOne();
    assertThat(table.storage().list("tag")).hasSize(4);
  }

  private Path tagFile() {
    return directory.resolve("tag").resolve(UUID.randomUUID() + ".json");
  }

  private void append(RecordTable to) {
    ShardSummary shard = Shards.write(table.storage(), Shards.SCHEMA, 9);
    to.commit(Shards.append(Shards.newest(table), shard));
  }

  /** The expiry was given up with the tag, and has deleted the manifest of the tagged version. */
  @Test
  void aTagWhoseManifestIsGoneIsGivenAgainIfItsVersionIsGivenUp() throws IOException {
    append(table);
    table.tag(0, "kept");
    RecordTable later = LaterTable.of(table.storage());
    assertThat(later.expire(ExpireOptions.defaults()).expired()).containsExactly(1L);
    Files.writeString(manifest(4), "damaged");
    Files.writeString(manifest(3), "damaged");
    UUID last = new ManifestLog(table.storage()).read(2).commitId();
    assertThat(repairRestoringPrevious().isDone()).isTrue();
    assertThat(table.versions()).containsExactly(0L, 2L, 3L);
    assertThat(table.tagged("recovered-0").length()).isEqualTo(3);
    Files.delete(aside(4, last));
    Files.delete(aside(3, last));
    LaterTable.of(table.storage())
        .sweep(SweepOptions.defaults().withMode(CareMode.DELETE), orphan -> {});
    assertThat(table.tagged("recovered-0").length()).isEqualTo(3);
    assertThat(DatasetCheck.of(directory.toString()).run(finding -> {}).isSound())
        .isTrue();
  }

  private Path aside(int version, UUID restored) {
    return Path.of(manifest(version) + ".damaged-" + restored);
  }

  /** Otherwise nothing could ever be expired or swept again. */
  @ParameterizedTest
  @ValueSource(strings = {"missing", "damaged", "another"})
  void aGapIsLeftBelowTheFloorByARepair(String damage) throws IOException {
    append(table);
    table.tag(0, "kept");
    switch (damage) {
      case "missing" -> Files.delete(manifest(1));
      case "damaged" -> Files.writeString(manifest(1), "damaged");
      default ->
        rewrite(
            1, "\"commit\":\"", "\"commit\":\"00000000-0000-0000-0000-000000000000\",\"was\":\"");
    }
    RecordTable later = LaterTable.of(table.storage());
    RepairReport asked = DatasetRepair.of(directory.toString()).run(finding -> {}, plan -> true);
    assertThat(asked.isDone()).isFalse();
    assertThat(asked.plan().remaining())
        .anyMatch(text ->
            text.contains("version 1 is damaged or missing") && text.contains("versions 0 to 1"));
    assertThat(repairRestoringPrevious().isDone()).isTrue();
    assertThat(table.versions()).containsExactly(0L, 2L, 3L, 4L);
    assertThat(table.latest().operation()).isEqualTo("repair");
    assertThat(table.latest().length()).isEqualTo(5);
    later.expire(ExpireOptions.defaults());
    later.sweep(SweepOptions.defaults().withMode(CareMode.DELETE), orphan -> {});
    assertThat(table.tagged("kept").length()).isEqualTo(3);
    assertThat(DatasetCheck.of(directory.toString()).run(finding -> {}).isSound())
        .isTrue();
    assertThat(repairRestoringPrevious().plan().actions())
        .as("nothing is left to do")
        .isEmpty();
  }

  @Test
  void aRepairFailsIfAVersionIsCommittedMeanwhile() throws IOException {
    append(table);
    Files.delete(manifest(1));
    assertThatThrownBy(() -> DatasetRepair.of(directory.toString())
            .restoringPrevious()
            .run(finding -> {}, plan -> {
              append(table);
              return true;
            }))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("version 3 was committed");
    assertThat(table.latest().operation()).isEqualTo("append");
  }

  @Test
  void anExpiryEndsIfItsFloorIsGivenUpMeanwhile() throws IOException {
    append(table);
    ManifestLog log = new ManifestLog(table.storage());
    Manifest planned = log.newest().orElseThrow();
    ExpireCommit expiry =
        new ExpireCommit(directory.toString(), log, planned, 2, planned.commitId());
    Files.writeString(manifest(2), "damaged");
    assertThat(repairRestoringPrevious().isDone()).isTrue();
    append(table);
    append(table);
    assertThatThrownBy(() -> new Committer(table.storage(), log).commit(expiry))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("a repair gave version 2 up");
    assertThat(table.versions()).hasSize(5);
  }

  @Test
  void anExpiryDeletesNothingAboveAFloorThatARepairHasLowered() {
    append(table);
    new ExpiredManifests(table.storage(), new ManifestLog(table.storage())).deleteBelow(2);
    assertThat(table.versions()).containsExactly(0L, 1L, 2L);
  }

  @Test
  void aRepairIsAVersionOfTheRecordsThatItGoesBackTo() throws IOException {
    TableSnapshot first = table.version(0);
    Files.writeString(manifest(1), "damaged");
    assertThat(repairRestoringPrevious().isDone()).isTrue();
    TableSnapshot repaired = table.latest();
    assertThat(repaired.version()).isOne();
    assertThat(repaired.operation()).isEqualTo("repair");
    assertThat(repaired.shards()).isEqualTo(first.shards());
    assertThat(repaired.recordsVersion()).isZero();
    assertThat(repaired.recordsCommitId()).isEqualTo(first.recordsCommitId());
    assertThat(table.versions()).containsExactly(0L, 1L);
  }

  /** Of the same number, and another one. */
  @Test
  void whatWasPlannedOnAVersionThatWasGivenUpIsNotCommitted() throws IOException {
    TableSnapshot planned = table.latest();
    TableChange overwrite = TableChange.of(TableChange.Kind.OVERWRITE, Shards.SCHEMA)
        .base(planned)
        .shards(List.of(Shards.write(table.storage(), Shards.SCHEMA, 5)))
        .build();
    TableChange relayout = TableChange.relayout(
        planned,
        List.of(Shards.write(table.storage(), Shards.SCHEMA, 4, 3, 2, 1)),
        Shards.write(table.storage(), IndexMap.SCHEMA, 3, 2, 1, 0),
        Map.of());
    TableChange append = appendToLatest();
    Files.write(manifest(1), new byte[0]);
    assertThat(repairRestoringPrevious().isDone()).isTrue();
    List<TableChange> changes = List.of(overwrite, relayout, append, append.expecting(1));
    for (TableChange change : changes) {
      assertThatThrownBy(() -> table.commit(change))
          .isInstanceOf(CommitConflictException.class)
          .hasMessageContaining("a repair gave up");
    }
    ShardSummary other = Shards.write(table.storage(), Shards.SCHEMA, 6);
    assertThat(table.commit(Shards.append(OptionalLong.of(0), other)).version()).isEqualTo(2);
    for (TableChange change : changes) {
      assertThatThrownBy(() -> table.commit(change)).isInstanceOf(CommitConflictException.class);
    }
    assertThat(table.latest().shards()).contains(other);
  }

  private TableChange appendToLatest() {
    return TableChange.of(TableChange.Kind.APPEND, Shards.SCHEMA)
        .base(table.latest())
        .shards(List.of(Shards.write(table.storage(), Shards.SCHEMA, 7)))
        .build();
  }

  @Test
  void anAppendPlannedOnANumberThatARepairHasNotReachedIsNotCommitted() throws IOException {
    append(table);
    TableChange append = appendToLatest();
    Files.writeString(manifest(1), "damaged");
    Files.writeString(manifest(2), "damaged");
    assertThat(repairRestoringPrevious().isDone()).isTrue();
    assertThat(table.latest().version()).isOne();
    assertThatThrownBy(() -> table.commit(append))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("a repair gave up");
  }

  /** It lost its number first, and then the versions that it had looked at were given up. */
  @Test
  void anAppendWhoseBaseIsGivenUpBetweenItsAttemptsIsNotCommitted() {
    TableChange append = appendToLatest();
    Storage interrupted = new ForwardingStorage(table.storage()) {
      private int attempts;

      @Override
      public byte[] read(String name, int maxBytes) {
        // Each attempt begins with the hint.
        if (name.equals("manifest/latest") && ++attempts == 2) {
          table.storage().delete("manifest/00000000000000000001.json");
          table.storage().publish("manifest/00000000000000000001.json", new byte[1]);
          table.storage().delete("manifest/00000000000000000002.json");
          assertThat(repairRestoringPrevious().isDone()).isTrue();
        }
        return super.read(name, maxBytes);
      }

      @Override
      public boolean publish(String name, byte[] content) {
        if (attempts == 1) {
          append(table);
        }
        return super.publish(name, content);
      }
    };
    assertThatThrownBy(() -> RecordTable.at(interrupted).commit(append))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("a repair gave up");
    assertThat(table.latest().operation()).isEqualTo("repair");
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
}
