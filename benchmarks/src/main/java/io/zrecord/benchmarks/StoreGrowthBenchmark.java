package io.zrecord.benchmarks;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.store.RecordStore;
import io.zrecord.store.RecordValues;
import io.zrecord.store.StoreOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;

/**
 * Measures how the cost of changing and of opening a store grows. Random updates and deletions of
 * records of 64 bytes in durable groups, and one by one, at 10⁴ and at 10⁷ records; opening after a
 * clean close; and opening after the writer was halted with 1 GiB of records of 1 KiB since its
 * last checkpoint. Figures are medians of five. After every round of deletions the same number of
 * records is appended again, which is not timed.
 *
 * <p>Argument: a work directory with room for 8 GiB.
 */
public final class StoreGrowthBenchmark {
  private static final int VALUE_BYTES = 64;
  private static final int SMALL_RECORDS = 10_000;
  private static final long LARGE_RECORDS = 10_000_000;
  private static final int GROUP = 4096;
  private static final int UPDATE_GROUPS = Effort.rounds(8);
  private static final int SINGLES = Effort.rounds(200);
  private static final int REPEATS = Effort.rounds(5);
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.BYTES).build();
  private static final StoreOptions OPTIONS = StoreOptions.defaults().withWriters(1);

  private final RecordStore store;
  private final RecordValues record;
  private final byte[] value = Workplace.noise(VALUE_BYTES, 1);
  private final Random random = new Random(2);

  /** An operation on one record. */
  private interface Operation {
    void run();
  }

  private StoreGrowthBenchmark(RecordStore store) {
    this.store = store;
    this.record = store.newValues();
  }

  public static void main(String[] arguments) throws Exception {
    Path work = Files.createDirectories(Path.of(arguments[0]).resolve("store-growth"));
    System.out.printf(
        "%n| records | updates/s | deletions/s | durable update (µs), median and 99 %% | durable deletion (µs), median and 99 %% | open after a close (ms) |"
            + "%n|---|---|---|---|---|---|%n");
    measure(work.resolve("store"), SMALL_RECORDS);
    measure(work.resolve("store"), Math.max(SMALL_RECORDS, Effort.of(LARGE_RECORDS)));
    measureRecovery(work.resolve("crashed"), Effort.of(1L << 30));
    Workplace.delete(work);
  }

  private static void measure(Path path, long records) throws IOException {
    Workplace.delete(path);
    String changes;
    try (RecordStore store = RecordStore.create(path, SCHEMA, OPTIONS)) {
      changes = new StoreGrowthBenchmark(store).changes(records);
    }
    double[] opening = new double[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
      long start = System.nanoTime();
      RecordStore store = RecordStore.open(path, OPTIONS);
      opening[i] = (System.nanoTime() - start) / 1e6;
      store.close();
    }
    System.out.printf(
        Locale.ROOT, "| %,d | %s | %.1f |%n", records, changes, Contest.median(opening));
    Workplace.delete(path);
  }

  private String changes(long records) {
    append(records);
    double[] updates = new double[REPEATS];
    double[] deletions = new double[REPEATS];
    int deletionGroups = (int) Math.min(UPDATE_GROUPS, records / 2 / GROUP);
    for (int round = -Effort.warmUps(1); round < REPEATS; round++) {
      double updating = groupsPerSecond(UPDATE_GROUPS, this::update);
      double deleting = groupsPerSecond(deletionGroups, this::delete);
      append(records - store.length());
      if (round >= 0) {
        updates[round] = updating * GROUP;
        deletions[round] = deleting * GROUP;
      }
    }
    String single = latency(this::update) + " | " + latency(this::delete);
    return String.format(
        Locale.ROOT,
        "%,.0f | %,.0f | %s",
        Contest.median(updates),
        Contest.median(deletions),
        single);
  }

  private void append(long count) {
    for (long i = 0; i < count; i++) {
      store.append(record.set("value", value));
    }
    store.commit();
  }

  private void update() {
    store.update(random.nextLong(store.pendingLength()), record.set("value", value));
  }

  private void delete() {
    store.delete(random.nextLong(store.pendingLength()));
  }

  private double groupsPerSecond(int groups, Operation operation) {
    long start = System.nanoTime();
    for (int group = 0; group < groups; group++) {
      for (int i = 0; i < GROUP; i++) {
        operation.run();
      }
      store.commit();
    }
    return groups / ((System.nanoTime() - start) / 1e9);
  }

  private String latency(Operation operation) {
    double[] micros = new double[SINGLES];
    for (int i = 0; i < SINGLES; i++) {
      long start = System.nanoTime();
      operation.run();
      store.commit();
      micros[i] = (System.nanoTime() - start) / 1e3;
    }
    Arrays.sort(micros);
    return String.format(
        Locale.ROOT, "%,.0f, %,.0f", micros[SINGLES / 2], micros[SINGLES * 99 / 100]);
  }

  private static void measureRecovery(Path path, long bytes) throws Exception {
    double[] opening = new double[REPEATS];
    long journal = 0;
    for (int i = 0; i < REPEATS; i++) {
      Workplace.delete(path);
      crash(path, bytes);
      journal = Files.size(path.resolve("journal"));
      long start = System.nanoTime();
      try (RecordStore store = RecordStore.open(path, OPTIONS)) {
        opening[i] = (System.nanoTime() - start) / 1e9;
        if (store.length() != bytes / Crashing.VALUE_BYTES) {
          throw new IllegalStateException("only " + store.length() + " records are there");
        }
      }
    }
    double gib = (double) bytes / (1 << 30);
    System.out.printf(
        Locale.ROOT,
        "%nOpening after a crash with %.2f GiB in records of 1 KiB since the checkpoint (journal of %.1f MiB): %.3f s, that is %.3f s a GiB%n",
        gib,
        journal / (double) (1 << 20),
        Contest.median(opening),
        Contest.median(opening) / gib);
    Workplace.delete(path);
  }

  private static void crash(Path path, long bytes) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            Crashing.class.getName(),
            path.toString(),
            Long.toString(bytes)))
        .inheritIO()
        .start();
    int code = process.waitFor();
    if (code != Crashing.EXIT_CODE) {
      throw new IllegalStateException("the writer that was to be halted ended with " + code);
    }
  }

  /** A writer that is halted with all that it appended still in the journal. */
  static final class Crashing {
    static final int VALUE_BYTES = 1 << 10;
    static final int EXIT_CODE = 77;

    private Crashing() {}

    public static void main(String[] arguments) {
      RecordStore store =
          RecordStore.create(Path.of(arguments[0]), SCHEMA, OPTIONS.withCheckpointBytes(1L << 40));
      RecordValues record = store.newValues();
      byte[] value = Workplace.noise(VALUE_BYTES, 3);
      long records = Long.parseLong(arguments[1]) / VALUE_BYTES;
      for (long i = 1; i <= records; i++) {
        store.append(record.set("value", value));
        if (i % GROUP == 0) {
          store.commit();
        }
      }
      store.commit();
      Runtime.getRuntime().halt(EXIT_CODE);
    }
  }
}
