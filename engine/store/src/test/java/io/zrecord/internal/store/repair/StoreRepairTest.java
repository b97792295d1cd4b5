package io.zrecord.internal.store.repair;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.MovedRecord;
import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.findings.CheckSummary;
import io.zrecord.findings.Finding;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.store.LiveState;
import io.zrecord.internal.store.StoreMetaFile;
import io.zrecord.internal.store.WriterBefore;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.internal.store.verify.SampleStore;
import io.zrecord.internal.store.verify.StoreState;
import io.zrecord.repair.DamagedValues;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.repair.RepairReport;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreOptions;
import io.zrecord.store.StoreReader;
import io.zrecord.testing.ForwardingFiles;
import io.zrecord.verify.Damage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** After a repair of a store the check finds nothing, and what was not damaged is as it was. */
final class StoreRepairTest {
  @TempDir
  Path directory;

  private static CheckSummary check(Path path) {
    return DatasetCheck.of(path.toString()).run(finding -> {});
  }

  private static void requireSound(Path path) {
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(path.toString()).run(findings::add);
    assertThat(findings).allMatch(finding -> !finding.kind().isDamage());
  }

  private static RepairReport repair(DatasetRepair repair) {
    RepairReport report = repair.run(finding -> {}, plan -> true);
    assertThat(report.isDone()).isTrue();
    return report;
  }

  /** Returns the values that can be read, by field and index. */
  private static Map<String, String> values(Path path) {
    Map<String, String> values = new TreeMap<>();
    try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
      for (long i = 0; i < store.length(); i++) {
        for (String field : new String[] {"text", "zipped", "label"}) {
          try (Batch batch = store.gather(new long[] {i}, field)) {
            values.put(
                field + i,
                batch.isAbsent(field, 0)
                    ? "absent"
                    : new String(batch.bytes(field, 0), StandardCharsets.ISO_8859_1));
          }
        }
      }
    }
    return values;
  }

  private static Map<String, byte[]> files(Path path) throws IOException {
    Map<String, byte[]> files = new TreeMap<>();
    try (Stream<Path> found = Files.walk(path)) {
      for (Path file : found.filter(Files::isRegularFile).toList()) {
        if (!file.endsWith("lock")) {
          files.put(path.relativize(file).toString(), Files.readAllBytes(file));
        }
      }
    }
    return files;
  }

  @Test
  void damagedValuesBecomeAbsent() {
    Path path = SampleStore.closed(directory.resolve("store"));
    Map<String, String> expected = values(path);
    Damage.flip(path.resolve("text.offset"), 16 * 5 + 6);
    Damage.flip(path.resolve("zipped.crc32c"), 4 * 5);
    Damage.flip(path.resolve("label.offset"), 16 * 499 + 12);
    repair(DatasetRepair.of(path.toString()).damagedValues(DamagedValues.MARK_ABSENT));
    requireSound(path);
    expected.putAll(Map.of("text5", "absent", "zipped5", "absent", "label499", "absent"));
    assertThat(values(path)).isEqualTo(expected);
  }

  @Test
  void recordsWithDamagedValuesAreDeleted() {
    Path path = SampleStore.closed(directory.resolve("store"));
    Map<String, String> before = values(path);
    Damage.flip(path.resolve("text.crc32c"), 4 * 5);
    Damage.flip(path.resolve("zipped.crc32c"), 4 * 5);
    Damage.flip(path.resolve("text.crc32c"), 4 * 499);
    List<MovedRecord> moves = new ArrayList<>();
    repair(DatasetRepair.of(path.toString())
        .damagedValues(DamagedValues.DELETE_RECORDS)
        .onMove(moves::add));
    requireSound(path);
    assertThat(moves).containsExactly(new MovedRecord(499, 499), new MovedRecord(498, 5));
    Map<String, String> expected = new TreeMap<>(before);
    for (String field : new String[] {"text", "zipped", "label"}) {
      expected.put(field + 5, before.get(field + 498));
      expected.remove(field + 498);
      expected.remove(field + 499);
    }
    assertThat(values(path)).isEqualTo(expected);
  }

  @Test
  void whatMovedIsKnownWhenTheDeletionsAreCutShort() {
    Path path = SampleStore.closed(directory.resolve("store"));
    Map<String, String> before = values(path);
    for (int index : new int[] {5, 9, 300}) {
      Damage.flip(path.resolve("text.crc32c"), 4L * index);
    }
    List<MovedRecord> moves = new ArrayList<>();
    DatasetRepair repair = DatasetRepair.of(path.toString())
        .damagedValues(DamagedValues.DELETE_RECORDS)
        .onMove(moved -> {
          moves.add(moved);
          if (moves.size() == 3) {
            throw new IllegalStateException("cut short");
          }
        });
    assertThatThrownBy(() -> repair.run(finding -> {}, plan -> true))
        .hasMessageContaining("cut short");
    try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
      assertThat(store.length()).isEqualTo(SampleStore.COUNT - 2);
      for (MovedRecord made : moves.subList(0, 2)) {
        try (Batch batch = store.gather(new long[] {made.to()}, "text")) {
          assertThat(new String(batch.bytes("text", 0), StandardCharsets.UTF_8))
              .isEqualTo(before.get("text" + made.from()));
        }
      }
    }
  }

  @Test
  void aChunkOfALaterFormatIsNotOverwritten() throws IOException {
    Path path = SampleStore.closed(directory.resolve("store"));
    Path chunk = path.resolve("chunk/0.zr");
    byte[] content = Files.readAllBytes(chunk);
    ByteBuffer header = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).putInt(8, 3);
    header.putInt(60, Crc32c.of(content, 0, 60));
    Files.write(chunk, content);
    LocalMutableFiles files = new LocalMutableFiles(path);
    assertThatThrownBy(
            () -> new StoreFilesRepair(files, StoreState.read(files), () -> {}).actions())
        .isInstanceOf(UnsupportedFormatException.class);
    assertThatThrownBy(() -> DatasetRepair.of(path.toString()).run(finding -> {}, plan -> true))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining("upgrade zrecord");
    assertThat(chunk).hasBinaryContent(content);
    // The control: without its checksum it is a damaged header.
    Damage.flip(chunk, 60);
    assertThat(new StoreFilesRepair(files, StoreState.read(files), () -> {}).actions())
        .hasSize(1);
  }

  @Test
  void withoutApprovalNothingChanges() throws IOException {
    Path path = SampleStore.closed(directory.resolve("store"));
    Damage.flip(path.resolve("text.crc32c"), 4 * 5);
    Damage.delete(path.resolve("live"));
    Map<String, byte[]> before = files(path);
    RepairReport report = DatasetRepair.of(path.toString())
        .damagedValues(DamagedValues.MARK_ABSENT)
        .run(finding -> {}, plan -> false);
    assertThat(report.isDone()).isFalse();
    assertThat(report.plan().actions()).isNotEmpty();
    Map<String, byte[]> after = files(path);
    assertThat(after.keySet()).isEqualTo(before.keySet());
    after.forEach((name, content) -> assertThat(content).isEqualTo(before.get(name)));
  }

  @Test
  void damagedValuesAreKeptUnlessSaidOtherwise() {
    Path path = SampleStore.closed(directory.resolve("store"));
    Damage.flip(path.resolve("text.crc32c"), 4 * 5);
    Damage.flip(path.resolve("live"), 3);
    RepairReport report = repair(DatasetRepair.of(path.toString()));
    assertThat(report.plan().remaining()).hasSize(1).allMatch(text -> text.contains("1 damaged"));
    assertThat(check(path)).returns(1L, CheckSummary::damageCount);
  }

  @Test
  void readersThatAreAttachedFollowToTheFilesOfTheRepairedStore() {
    for (String damaged : new String[] {"live", "text.crc32c"}) {
      Path path = SampleStore.closed(directory.resolve("store of " + damaged));
      try (StoreReader reader = StoreReader.open(path)) {
        Damage.flip(path.resolve(damaged), 3);
        repair(DatasetRepair.of(path.toString()).damagedValues(DamagedValues.MARK_ABSENT));
        try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
          store.append(store.newValues().set("text", "next"));
          store.update(7, store.newValues().set("text", "changed"));
        }
        assertThat(reader.length()).as(damaged).isEqualTo(SampleStore.COUNT + 1);
        assertThat(text(reader, SampleStore.COUNT)).as(damaged).isEqualTo("next");
        assertThat(text(reader, 7)).as(damaged).isEqualTo("changed");
      }
    }
  }

  /** One that was opened before a table was lost maps a file that nobody writes to any more. */
  @Test
  void readersThatAreAttachedFollowToATableThatIsMadeAnew() {
    Path path = SampleStore.closed(directory.resolve("store"));
    try (StoreReader reader = StoreReader.open(path)) {
      assertThat(text(reader, 9)).isEqualTo("text 9");
      Damage.delete(path.resolve("text.offset"));
      repair(DatasetRepair.of(path.toString()).damagedValues(DamagedValues.MARK_ABSENT));
      try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
        store.update(7, store.newValues().set("text", "changed"));
      }
      assertThat(text(reader, 7)).isEqualTo("changed");
      assertThat(text(reader, 9)).isEqualTo("absent");
    }
  }

  private static String text(StoreReader reader, long index) {
    try (Batch batch = reader.gather(new long[] {index}, "text")) {
      return batch.isAbsent("text", 0)
          ? "absent"
          : new String(batch.bytes("text", 0), StandardCharsets.UTF_8);
    }
  }

  @Test
  void aRepairThatWasCutShortIsFinishedByTheNextWriter() {
    Path path = SampleStore.closed(directory.resolve("store"));
    Map<String, String> expected = values(path);
    LocalMutableFiles files = new LocalMutableFiles(path);
    UUID id = StoreMetaFile.read(files).shard().id();
    LiveState.beginRepair(files, id, WriterToken.take(files), WriterBefore.CLOSED);
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(path.toString()).run(findings::add);
    assertThat(findings).hasSize(1).allMatch(finding -> finding.kind() == Finding.Kind.LIVE);
    assertThat(values(path)).isEqualTo(expected);
    requireSound(path);
  }

  @Test
  void aDamagedJournalIsCutAndTheRestIsKept() throws IOException {
    Path path = SampleStore.killedBeforeTables(directory);
    byte[] journal = Files.readAllBytes(path.resolve("journal"));
    // The second record: the first one is whole.
    int first = 64 + (journal[68] & 0xff) + ((journal[69] & 0xff) << 8);
    Damage.flip(path.resolve("journal"), first + 50);
    RepairReport report = repair(DatasetRepair.of(path.toString()));
    assertThat(report.plan().actions().get(0))
        .contains("commits")
        .contains((journal.length - first) + " bytes")
        .contains("journal.damaged-1");
    assertThat(Files.size(path.resolve("journal.damaged-1"))).isEqualTo(journal.length - first);
    assertThat(check(path))
        .returns(true, CheckSummary::isSound)
        .returns(SampleStore.COUNT + 3L, CheckSummary::recordCount);
    assertThat(SampleStore.text(path, SampleStore.COUNT + 2))
        .isEqualTo("text " + (SampleStore.COUNT + 2));
    assertThat(SampleStore.text(path, 3)).isEqualTo("text 3");
  }

  @Test
  void valuesOfLostCommitsThatReachedTheTablesStay() {
    Path path = SampleStore.killed(directory);
    Damage.flip(path.resolve("journal"), 64 + 50);
    repair(DatasetRepair.of(path.toString()));
    assertThat(check(path))
        .returns(true, CheckSummary::isSound)
        .returns((long) SampleStore.COUNT, CheckSummary::recordCount);
    assertThat(SampleStore.text(path, 3)).isEqualTo("changed");
    assertThat(SampleStore.text(path, 0)).isEqualTo("text 0");
    // What is appended next must not be written over them.
    try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
      store.append(store.newValues().set("text", "next").set("zipped", new byte[5000]));
    }
    assertThat(SampleStore.text(path, 3)).isEqualTo("changed");
    requireSound(path);
  }

  @Test
  void theHeaderOfAJournalIsWrittenAgainWithoutLoss() {
    Path path = SampleStore.killed(directory);
    Damage.flip(path.resolve("journal"), 61);
    repair(DatasetRepair.of(path.toString()));
    assertThat(check(path))
        .returns(true, CheckSummary::isSound)
        .returns((long) SampleStore.KILLED_COUNT, CheckSummary::recordCount);
  }

  @Test
  void aMissingJournalBecomesAnEmptyOne() {
    Path path = SampleStore.closed(directory.resolve("store"));
    Map<String, String> expected = values(path);
    Damage.delete(path.resolve("journal"));
    repair(DatasetRepair.of(path.toString()));
    requireSound(path);
    assertThat(values(path)).isEqualTo(expected);
  }

  @Test
  void headersOfChunksAreWrittenAgainWithoutLoss() {
    Path path = SampleStore.closed(directory.resolve("store"));
    Map<String, String> expected = values(path);
    Damage.flip(path.resolve("chunk/0.zr"), 8);
    Damage.flip(path.resolve("chunk/1.zr"), 63);
    repair(DatasetRepair.of(path.toString()));
    requireSound(path);
    assertThat(values(path)).isEqualTo(expected);
  }

  @Test
  void ofFilesThatAreMissingOrCutOnlyWhatWasInThemIsLost() {
    Path path = SampleStore.closed(directory.resolve("store"));
    Map<String, String> expected = values(path);
    Damage.delete(path.resolve("chunk/1.zr"));
    Damage.cut(path.resolve("text.offset"), 16 * 490);
    Damage.cut(path.resolve("label.crc32c"), 4 * 495 + 2);
    repair(DatasetRepair.of(path.toString()).damagedValues(DamagedValues.MARK_ABSENT));
    requireSound(path);
    Map<String, String> found = values(path);
    assertThat(found.keySet()).isEqualTo(expected.keySet());
    int lost = 0;
    for (Map.Entry<String, String> value : found.entrySet()) {
      if (!value.getValue().equals(expected.get(value.getKey()))) {
        assertThat(value.getValue()).as(value.getKey()).isEqualTo("absent");
        lost++;
      }
    }
    assertThat(lost).isBetween(15, 1000);
    assertThat(found).containsEntry("text489", expected.get("text489"));
    assertThat(found).containsEntry("text490", "absent").containsEntry("label495", "absent");
  }

  @Test
  void theChunkThatIsBeingWrittenMayBeMissing() throws IOException {
    Path path = SampleStore.closed(directory.resolve("store"));
    int last;
    try (Stream<Path> chunks = Files.list(path.resolve("chunk"))) {
      last = (int) chunks.count() - 1;
    }
    Damage.delete(path.resolve("chunk/" + last + ".zr"));
    repair(DatasetRepair.of(path.toString()).damagedValues(DamagedValues.DELETE_RECORDS));
    requireSound(path);
    assertThat(SampleStore.text(path, 0)).isEqualTo("text 0");
  }

  @Test
  void aLostMetaFileIsBeyondRepair() {
    Path path = SampleStore.closed(directory.resolve("store"));
    Damage.delete(path.resolve("meta.json"));
    RepairReport report = DatasetRepair.of(path.toString()).run(finding -> {}, plan -> true);
    assertThat(report.isDone()).isFalse();
    assertThat(report.plan().remaining().get(0)).contains("restore it from a copy");
  }

  /** A disk that is full after a number of replacements of the meta file. */
  private static final class FullAfter extends ForwardingFiles {
    private int replacements;

    FullAfter(Path path, int replacements) {
      super(new LocalMutableFiles(path));
      this.replacements = replacements;
    }

    @Override
    public void replace(String name, Consumer<MutableFile> writing, Runnable lastCheck) {
      if (name.equals("meta.json") && replacements-- <= 0) {
        throw new DiskFullException(name, "no space is left");
      }
      super.replace(name, writing, lastCheck);
    }
  }

  @Test
  void aRepairOfACountDoesNotEndWellOnAFullDisk() {
    Path path = SampleStore.closed(directory.resolve("store"));
    LocalMutableFiles files = new LocalMutableFiles(path);
    StoreMeta meta = StoreMetaFile.read(files);
    ShardMeta shard = meta.shard();
    List<FieldMeta> miscounted = shard.fields().stream()
        .map(field ->
            new FieldMeta(field.spec(), field.stem(), field.absentCount() + 1, field.valueBytes()))
        .toList();
    files.replace(
        "meta.json",
        new StoreMeta(
                new ShardMeta(
                    shard.id(),
                    shard.length(),
                    shard.hasChecksums(),
                    shard.chunkBytes(),
                    shard.chunks(),
                    miscounted),
                meta.unfull(),
                meta.chunkRecords(),
                meta.sequence())
            .write());
    int repaired = 0;
    for (int replacements = 0; repaired == 0; replacements++) {
      StoreRepair repair =
          new StoreRepair(new FullAfter(path, replacements), DamagedValues.KEEP, moved -> {});
      try {
        repaired += repair.run(finding -> {}, plan -> true).isDone() ? 1 : 0;
        requireSound(path);
      } catch (DiskFullException e) {
        // The next repair has one replacement more.
      }
      assertThat(replacements).isLessThan(5);
    }
  }
}
