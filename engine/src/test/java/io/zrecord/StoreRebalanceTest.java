package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.StoreLockedException;
import io.zrecord.rebalance.StoreRebalance;
import io.zrecord.rebalance.StoreRebalanceOptions;
import io.zrecord.rebalance.StoreRebalancePlan;
import io.zrecord.rebalance.StoreRebalancePlan.Reason;
import io.zrecord.rebalance.StoreRebalanceResult;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.repair.RepairReport;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.testing.Budget;
import io.zrecord.verify.DatasetCheck;
import io.zrecord.verify.Finding;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a rebalance of a store does, and what it leaves as it is. */
class StoreRebalanceTest {
  private static final int SEQUENCES = Math.max(2, Budget.of(10));
  private static final int STEPS = 8;
  private static final long SEED = Budget.seed();
  private static final StoreOptions OPTIONS =
      StoreOptions.defaults().withChunkBytes(1 << 17).withCheckpointBytes(1 << 16);
  private static final StoreRebalanceOptions ALWAYS =
      StoreRebalanceOptions.defaults().withMinUtilization(1).withChunkBytes(1 << 16);

  @TempDir
  Path directory;

  private static void write(Path path, StoreModel model, int operations) {
    try (RecordStore store = RecordStore.exists(path)
        ? RecordStore.open(path, OPTIONS)
        : RecordStore.create(path, StoreModel.SCHEMA, OPTIONS)) {
      for (int i = 0; i < operations; i++) {
        model.next(store);
      }
    }
  }

  private static List<Finding> findings(Path path) {
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(path.toString()).run(findings::add);
    return findings;
  }

  @Test
  void anyOperationsAndRebalancesAreThoseOfAList() {
    long rewritten = 0;
    for (int sequence = 0; sequence < SEQUENCES; sequence++) {
      Random random = new Random(SEED + sequence);
      Path path = directory.resolve("store-" + sequence);
      StoreModel model = new StoreModel(SEED + sequence, 100 + random.nextInt(1000));
      write(path, model, random.nextInt(1500));
      try (StoreReader reader = StoreReader.open(path)) {
        for (int step = 0; step < STEPS; step++) {
          if (step == 0 || step == STEPS - 2) {
            write(path, model, 100 + random.nextInt(500));
          } else if (step == 1 || step == STEPS - 1) {
            // Of the operations of the step before, one at least left bytes dead.
            assertThat(StoreRebalance.of(path, options(random).withMinUtilization(1))
                    .run()
                    .isRewritten())
                .isTrue();
            rewritten++;
          } else if (random.nextBoolean()) {
            write(path, model, random.nextInt(600));
          } else {
            rewritten += StoreRebalance.of(path, options(random)).run().isRewritten() ? 1 : 0;
          }
          String context = "seed " + SEED + ", sequence " + sequence + ", step " + step;
          assertThat(model.differenceFrom(reader)).as(context).isNull();
        }
      }
      try (RecordStore store = RecordStore.open(path, OPTIONS)) {
        assertThat(model.differenceFrom(store)).isNull();
      }
      assertThat(findings(path)).isEmpty();
    }
    System.out.printf("Seed %d: %d sequences, %d rewrites%n", SEED, SEQUENCES, rewritten);
    assertThat(rewritten).isGreaterThanOrEqualTo(2 * SEQUENCES);
  }

  private static StoreRebalanceOptions options(Random random) {
    Codec[] codecs = Codec.values();
    return ALWAYS
        .withMinUtilization(random.nextDouble())
        .withChunkBytes(1L << (16 + random.nextInt(4)))
        .withStripeBytes(1L << (16 + random.nextInt(6)))
        .withCompression(Map.of(
            "packed", Compression.of(codecs[random.nextInt(codecs.length)]),
            "id", Compression.of(codecs[random.nextInt(codecs.length)])));
  }

  @Test
  void deadBytesGoAndASecondRunDoesNothing() throws IOException {
    Path path = directory.resolve("store");
    // The bounds below are those of these operations.
    StoreModel model = new StoreModel(2026, 500);
    write(path, model, 5000);
    StoreRebalance rebalance = StoreRebalance.of(path, ALWAYS);
    StoreRebalancePlan plan = rebalance.plan();
    assertThat(plan.reasons()).contains(Reason.SPARSE);
    assertThat(plan.utilization()).isLessThan(0.5);
    assertThat(plan.scatteredValues()).isPositive();
    List<Long> progress = new ArrayList<>();
    StoreRebalanceResult result = rebalance.onBytes(progress::add).run();
    assertThat(result.isRewritten()).isTrue();
    assertThat(result.before().records()).isEqualTo(model.length());
    assertThat(result.chunkBytesAfter()).isLessThan(plan.chunkBytes() / 2);
    assertThat(progress).isSorted().endsWith(plan.valueBytes());
    try (var names = Files.list(path.resolve("chunk"))) {
      assertThat(names.mapToLong(file -> file.toFile().length()).sum())
          .isEqualTo(result.chunkBytesAfter());
    }
    long tableBytes = 0;
    for (String name : names(path)) {
      tableBytes += name.startsWith("field-") ? Files.size(path.resolve(name)) : 0;
    }
    assertThat(plan.neededBytes())
        .isBetween(
            result.chunkBytesAfter() + tableBytes,
            result.chunkBytesAfter() + tableBytes + (2 << 20));
    StoreRebalancePlan after = rebalance.plan();
    assertThat(after.isWorthwhile()).isFalse();
    assertThat(after.utilization()).isEqualTo(1);
    assertThat(after.scatteredValues()).isLessThan(plan.scatteredValues() / 10);
    byte[] meta = Files.readAllBytes(path.resolve("meta.json"));
    assertThat(rebalance.run().isRewritten()).isFalse();
    assertThat(names(path)).contains("field-1-1.offset").doesNotContain("id.offset");
    assertThat(meta).isEqualTo(Files.readAllBytes(path.resolve("meta.json")));
  }

  private static List<String> names(Path path) throws IOException {
    try (var files = Files.walk(path)) {
      return files.map(file -> path.relativize(file).toString()).sorted().toList();
    }
  }

  @Test
  void anEmptyStoreNeverGivesAChunkAnIdAgain() {
    Path path = directory.resolve("store");
    StoreModel model = new StoreModel(SEED, 50);
    write(path, model, 300);
    try (StoreReader reader = StoreReader.open(path)) {
      assertThat(model.differenceFrom(reader)).isNull();
      try (RecordStore store = RecordStore.open(path, OPTIONS)) {
        while (store.pendingLength() > 0) {
          store.delete(0);
        }
      }
      assertThat(StoreRebalance.of(path, ALWAYS).run().chunksAfter()).isEqualTo(1);
      assertThat(reader.length()).isZero();
      StoreModel again = new StoreModel(SEED + 1, 50);
      write(path, again, 300);
      assertThat(again.differenceFrom(reader)).isNull();
      assertThat(directory.resolve("store/chunk/0.zr")).doesNotExist();
    }
  }

  @Test
  void batchesAndSnapshotsOfBeforeStayWhatTheyWere() {
    Path path = directory.resolve("store");
    StoreModel model = new StoreModel(SEED, 2000);
    write(path, model, 4000);
    long[] indices = Budget.random().longs(500, 0, model.length()).toArray();
    List<byte[]> expected = new ArrayList<>();
    for (long index : indices) {
      expected.add(model.records().get((int) index)[3]);
    }
    try (RecordDataset snapshot = RecordDataset.open(path.toString());
        StoreReader reader = StoreReader.open(path);
        Batch batch = reader.gather(indices)) {
      StoreRebalance.of(path, ALWAYS.withCompression(Map.of("text", Compression.RAW)))
          .run();
      requireTexts(batch, expected);
      assertThat(model.differenceFrom(snapshot)).isNull();
      assertThat(model.differenceFrom(reader)).isNull();
      assertThat(reader.schema().fields().get(3).compression()).isEqualTo(Compression.RAW);
      write(path, model, 500);
      assertThat(model.differenceFrom(reader)).isNull();
      requireTexts(batch, expected);
    }
    try (RecordDataset snapshot = RecordDataset.open(path.toString())) {
      assertThat(model.differenceFrom(snapshot)).isNull();
    }
  }

  private static void requireTexts(Batch batch, List<byte[]> expected) {
    for (int i = 0; i < batch.count(); i++) {
      byte[] found = batch.isAbsent("text", i) ? null : batch.bytes("text", i);
      assertThat(found).isEqualTo(expected.get(i));
    }
  }

  @Test
  void whatCannotBeDoneSaysWhyAndLeavesTheStore() throws IOException {
    Path path = directory.resolve("store");
    StoreModel model = new StoreModel(SEED, 500);
    write(path, model, 3000);
    try (RecordStore store = RecordStore.open(path, OPTIONS)) {
      assertThatThrownBy(() -> StoreRebalance.of(path, ALWAYS).run())
          .isInstanceOf(StoreLockedException.class)
          .hasMessageContaining("this process");
      assertThat(StoreRebalance.of(path, ALWAYS).plan().isWorthwhile()).isTrue();
      assertThat(model.differenceFrom(store)).isNull();
    }
    assertThatThrownBy(() -> StoreRebalance.of(
                path, ALWAYS.withCompression(Map.of("none", Compression.RAW)))
            .run())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("none");
    assertThatThrownBy(() -> StoreRebalance.of(directory, ALWAYS))
        .isInstanceOf(NotADatasetException.class);
    assertThatThrownBy(() -> ALWAYS.withChunkBytes(1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("65536");
    List<String> before = names(path);
    damageOneValue(path);
    assertThatThrownBy(() -> StoreRebalance.of(path, ALWAYS).run())
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("The store stays as it is");
    assertThat(names(path)).isEqualTo(before);
  }

  private static void damageOneValue(Path path) throws IOException {
    byte[] entries = Files.readAllBytes(path.resolve("raw.offset"));
    java.nio.ByteBuffer table =
        java.nio.ByteBuffer.wrap(entries).order(java.nio.ByteOrder.LITTLE_ENDIAN);
    int at = 0;
    while (table.getInt(at + 12) == 0) {
      at += 16;
    }
    Path chunk = path.resolve("chunk/" + table.getInt(at + 8) + ".zr");
    byte[] bytes = Files.readAllBytes(chunk);
    bytes[(int) table.getLong(at)] ^= 1;
    Files.write(chunk, bytes);
  }

  @Test
  void leftoversAreReportedAndRemovedAndNothingElseIs() throws IOException {
    Path path = directory.resolve("store");
    StoreModel model = new StoreModel(SEED, 500);
    write(path, model, 1000);
    List<String> before = names(path);
    List<String> leftovers = List.of("chunk/77.zr", "field-1-1.offset", "field-1-1.crc32c");
    List<String> others = List.of("notes.txt", "old-raw.offset", "chunk/readme");
    for (String name : leftovers) {
      Files.write(path.resolve(name), new byte[100]);
    }
    for (String name : others) {
      Files.write(path.resolve(name), new byte[100]);
    }
    assertThat(findings(path))
        .extracting(finding -> finding.kind() + " " + path.relativize(Path.of(finding.file())))
        .containsExactlyInAnyOrderElementsOf(
            leftovers.stream().map(name -> "ORPHAN " + name).toList());
    assertThat(
            DatasetRepair.of(path.toString()).run(finding -> {}, plan -> true).isDone())
        .isTrue();
    List<String> expected = new ArrayList<>(before);
    expected.addAll(others);
    assertThat(names(path)).containsExactlyInAnyOrderElementsOf(expected);
    // What a repair cut off a journal may name chunks: then they stay.
    Files.write(path.resolve("chunk/78.zr"), new byte[100]);
    Files.write(path.resolve("journal.damaged-1"), new byte[100]);
    List<String> kept = names(path);
    assertThatThrownBy(() -> StoreRebalance.of(path, ALWAYS).run())
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("journal.damaged-1");
    assertThat(names(path)).isEqualTo(kept);
    write(path, model, 100);
    assertThat(names(path)).contains("chunk/78.zr");
    Files.delete(path.resolve("journal.damaged-1"));
    assertThat(StoreRebalance.of(path, ALWAYS).run().isRewritten()).isTrue();
    assertThat(names(path))
        .doesNotContain("chunk/78.zr")
        .doesNotContain("raw.offset")
        .containsAll(others);
    try (RecordStore store = RecordStore.open(path, OPTIONS)) {
      assertThat(model.differenceFrom(store)).isNull();
    }
  }

  @Test
  void chunksThatEntriesPointToStayWhereCommitsWereLost() throws IOException {
    Path path = directory.resolve("store");
    StoreModel model = new StoreModel(SEED, 500);
    write(path, model, 1000);
    byte[] meta = Files.readAllBytes(path.resolve("meta.json"));
    List<String> before = names(path);
    write(path, model, 3000);
    List<String> later = new ArrayList<>(names(path));
    later.removeAll(before);
    assertThat(later).isNotEmpty();
    // An old copy of the meta file has come back, and nothing is left that says how old it is.
    Files.write(path.resolve("meta.json"), meta);
    Files.delete(path.resolve("live"));
    Files.delete(path.resolve("journal"));
    Files.write(path.resolve("chunk/77777.zr"), new byte[100]);
    assertThat(
            DatasetRepair.of(path.toString()).run(finding -> {}, plan -> true).isDone())
        .isTrue();
    assertThat(names(path)).doesNotContain("chunk/77777.zr");
    try (RecordStore store = RecordStore.open(path, OPTIONS)) {
      long[] all = java.util.stream.LongStream.range(0, store.length()).toArray();
      try (Batch batch = store.gather(all)) {
        assertThat(batch.count()).isEqualTo(all.length);
      }
    }
    assertThat(names(path)).containsAnyElementsOf(later);
    // Nor are they offered to be deleted, again and again.
    RepairReport again = DatasetRepair.of(path.toString()).run(finding -> {}, plan -> true);
    assertThat(again.plan().actions()).isEmpty();
    assertThat(findings(path)).anyMatch(finding -> finding.kind() == Finding.Kind.ORPHAN);
  }
}
