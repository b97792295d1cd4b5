package io.zrecord.benchmarks;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.store.RecordStore;
import io.zrecord.store.RecordValues;
import io.zrecord.store.StoreDurability;
import io.zrecord.store.StoreOptions;
import io.zrecord.store.StoreRebalance;
import io.zrecord.store.StoreRebalanceOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;

/**
 * Measures the rebalance of a store of 1,000 MiB against {@code cp} of the chunks that the
 * rebalance leaves, with and without {@code sync}. The contestants take turns; data are in the page
 * cache. Argument: directory.
 */
public final class StoreRebalanceBenchmark {
  private static final int ROUNDS = Effort.rounds(5);
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("image", ElementType.BYTES)
      .field("label", ElementType.I64)
      .build();

  private StoreRebalanceBenchmark() {}

  public static void main(String[] arguments) throws IOException, InterruptedException {
    Path root = Files.createTempDirectory(Path.of(arguments[0]), "zrecord-speed");
    long bytes = (long) Effort.of(1000) << 20;
    try {
      for (int valueBytes : new int[] {4 << 10, 64 << 10}) {
        measure(root, valueBytes, bytes);
      }
    } finally {
      LocalStorage.at(Path.of(arguments[0])).delete(String.valueOf(root.getFileName()));
    }
  }

  private static void measure(Path root, int valueBytes, long bytes)
      throws IOException, InterruptedException {
    Path path = root.resolve("store-" + valueBytes);
    write(path, valueBytes, bytes / valueBytes);
    double[] rebalances = new double[ROUNDS];
    double[] copies = new double[ROUNDS];
    double[] synced = new double[ROUNDS];
    double[] fresh = new double[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      changeTenth(path, valueBytes, round);
      fresh[round] = seconds(() -> StoreRebalance.of(path, always()).run());
      // Chunks of a store in order, so that both copy the same bytes from the same places.
      change(path, valueBytes, round);
      rebalances[round] = seconds(() -> StoreRebalance.of(path, always()).run());
      Path copy = root.resolve("copy");
      copies[round] = seconds(() -> run("cp", "-r", path.resolve("chunk").toString(), copy + ""));
      run("rm", "-r", copy.toString());
      synced[round] = seconds(() -> {
        run("cp", "-r", path.resolve("chunk").toString(), copy.toString());
        run("sync", "-f", copy.toString());
      });
      run("rm", "-r", copy.toString());
    }
    double gib = bytes / (double) (1 << 30);
    System.out.printf(
        Locale.ROOT,
        "%d-byte values, %.2f GiB: rebalance %.2f s (%.2f GiB/s), with a tenth changed %.2f s, cp %.2f s, cp and sync %.2f s; "
            + "%.0f %% of cp, %.0f %% of cp and sync%n",
        valueBytes,
        gib,
        median(rebalances),
        gib / median(rebalances),
        median(fresh),
        median(copies),
        median(synced),
        100 * median(copies) / median(rebalances),
        100 * median(synced) / median(rebalances));
  }

  private static StoreRebalanceOptions always() {
    return StoreRebalanceOptions.defaults().withMinUtilization(1);
  }

  private static void write(Path path, int valueBytes, long records) {
    Random random = new Random(1);
    byte[] value = new byte[valueBytes];
    random.nextBytes(value);
    try (RecordStore store = RecordStore.create(
        path, SCHEMA, StoreOptions.defaults().withDurability(StoreDurability.NONE))) {
      RecordValues values = store.newValues();
      for (long i = 0; i < records; i++) {
        value[(int) (i % valueBytes)]++;
        store.append(values.set("image", value).set("label", i));
      }
    }
  }

  /** Makes one value dead, so that a rebalance is worth it. */
  private static void change(Path path, int valueBytes, int round) {
    try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
      store.update(round, store.newValues().set("image", new byte[valueBytes]));
    }
  }

  private static void changeTenth(Path path, int valueBytes, int round) {
    Random random = new Random(round);
    byte[] value = new byte[valueBytes];
    try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
      for (long i = store.length() / 10; i > 0; i--) {
        random.nextBytes(value);
        store.update(random.nextInt((int) store.length()), store.newValues().set("image", value));
      }
    }
  }

  private interface Work {
    void run() throws IOException, InterruptedException;
  }

  private static double seconds(Work work) throws IOException, InterruptedException {
    long start = System.nanoTime();
    work.run();
    return (System.nanoTime() - start) / 1e9;
  }

  private static void run(String... command) throws IOException, InterruptedException {
    if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
      throw new IOException(String.join(" ", command));
    }
  }

  private static double median(double[] times) {
    double[] sorted = times.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
