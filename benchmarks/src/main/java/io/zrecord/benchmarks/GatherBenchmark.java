package io.zrecord.benchmarks;

import io.zrecord.RecordDataset;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.ShardWriter;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Gathers random records into a caller's direct buffer, against a plain copy of the same bytes from
 * the same random places of the same mapped files, which are known beforehand. The data are in the
 * page cache and larger than the CPU's caches. Contestants take turns, slice by slice.
 *
 * <p>Arguments: a directory for 3 GiB of data (default: the temporary directory), and the number of
 * slices for each contestant (default 101).
 */
public final class GatherBenchmark {
  private static final long DATA_BYTES = 3L << 30;
  private static final int BATCH_BYTES = 4 << 20;
  private static final int SLICE_BYTES = 64 << 20;
  private static final int WARM_UP_ROUNDS = 50;
  private static final int SEED = 20;

  /** How the values are found (docs/spec/FORMAT.md sections 4 and 5). */
  private enum Layout {
    ENTRIES,
    RUNS;

    RecordSchema schema(int valueBytes) {
      RecordSchema.Builder fields = RecordSchema.builder();
      return this == ENTRIES
          ? fields.field("value", ElementType.BYTES).build()
          : fields
              .field("value", ElementType.U8, Shape.of(valueBytes), Compression.RAW)
              .build();
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final PrintStream out;
  private final Path directory;
  private final int rounds;

  private GatherBenchmark(PrintStream out, Path directory, int rounds) {
    this.out = out;
    this.directory = directory;
    this.rounds = rounds;
  }

  public static void main(String[] arguments) throws Exception {
    Path directory =
        Path.of(arguments.length > 0 ? arguments[0] : System.getProperty("java.io.tmpdir"));
    int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 101;
    new GatherBenchmark(System.out, directory, rounds).run();
  }

  private void run() throws Exception {
    out.printf(
        "Random gather of slices of %d MiB from %d MiB, medians of %d slices (seed %d)%n",
        SLICE_BYTES >> 20, DATA_BYTES >> 20, rounds, SEED);
    out.printf(
        "%-10s %-8s %-8s %-14s %-14s %-8s%n",
        "value", "layout", "threads", "plain GiB/s", "engine GiB/s", "ratio");
    for (int valueBytes : new int[] {1 << 10, 4 << 10, 64 << 10}) {
      for (Layout layout : Layout.values()) {
        run(valueBytes, layout);
      }
    }
  }

  private void run(int valueBytes, Layout layout) throws Exception {
    Path data = Files.createTempDirectory(directory, "gather-benchmark");
    Storage storage = LocalStorage.at(data);
    try {
      RecordSchema schema = layout.schema(valueBytes);
      measure(storage, schema, write(storage, schema, valueBytes), valueBytes, layout);
    } finally {
      storage.delete("shard");
      Files.delete(data);
    }
  }

  private static ShardSummary write(Storage storage, RecordSchema schema, int valueBytes) {
    byte[] value = new byte[valueBytes];
    Random random = new Random(SEED);
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), schema, options)) {
      for (long written = 0; written < DATA_BYTES; written += valueBytes) {
        random.nextBytes(value);
        writer.put(0, value, 0, valueBytes);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private void measure(
      Storage storage, RecordSchema schema, ShardSummary shard, int valueBytes, Layout layout)
      throws Exception {
    RecordDataset dataset =
        RecordDataset.openShard(storage, schema, shard, RecordDataset.ReadOptions.defaults());
    verifyAll(dataset);
    PlainCopy plain = new PlainCopy(storage, shard, valueBytes, layout);
    for (int threads = 1; threads <= 2; threads++) {
      List<Callable<double[]>> tasks = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        Random random = new Random(SEED + t);
        tasks.add(() -> alternate(dataset, plain, valueBytes, random));
      }
      ExecutorService pool = Executors.newFixedThreadPool(threads);
      double plainRate = 0;
      double engineRate = 0;
      try {
        for (Future<double[]> done : pool.invokeAll(tasks)) {
          plainRate += done.get()[0];
          engineRate += done.get()[1];
        }
      } finally {
        pool.shutdown();
      }
      out.printf(
          "%-10d %-8s %-8d %-14.2f %-14.2f %-8.2f%n",
          valueBytes, layout, threads, plainRate, engineRate, engineRate / plainRate);
    }
  }

  /**
   * Returns the median rates of slices that one thread gathers plainly and by the engine, in turns.
   */
  private double[] alternate(
      RecordDataset dataset, PlainCopy plain, int valueBytes, Random random) {
    FieldReader reader = dataset.reader("value");
    ByteBuffer target = ByteBuffer.allocateDirect(BATCH_BYTES);
    int batch = BATCH_BYTES / valueBytes;
    double[] plainRates = new double[rounds];
    double[] engineRates = new double[rounds];
    for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
      // Each contestant has its own places: otherwise the second would find those of the first in
      // the cache.
      long[] indices =
          random.longs(SLICE_BYTES / valueBytes, 0, dataset.length()).toArray();
      long[] places = plain.places(
          random.longs(SLICE_BYTES / valueBytes, 0, dataset.length()).toArray());
      long start = System.nanoTime();
      for (int from = 0; from < indices.length; from += batch) {
        reader.select(indices, from, batch);
        reader.copyAll(target.clear());
      }
      long middle = System.nanoTime();
      plain.copy(places, target);
      long end = System.nanoTime();
      if (round >= 0) {
        engineRates[round] = rate(middle - start);
        plainRates[round] = rate(end - middle);
      }
    }
    return new double[] {median(plainRates), median(engineRates)};
  }

  private static void verifyAll(RecordDataset dataset) {
    FieldReader reader = dataset.reader("value");
    ByteBuffer target = ByteBuffer.allocateDirect(BATCH_BYTES);
    for (long next = 0; next < dataset.length(); ) {
      int most = (int) Math.min(1 << 16, dataset.length() - next);
      next += reader.selectRange(next, most, BATCH_BYTES);
      reader.copyAll(target.clear());
    }
  }

  private static double rate(long nanos) {
    return (double) SLICE_BYTES / (1 << 30) / (nanos / 1e9);
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }

  /** Copies from chunk files whose places are looked up beforehand. */
  private static final class PlainCopy {
    private static final int OFFSET_BITS = 40;

    private final int valueBytes;
    private final ByteBuffer[] chunks;
    private final Layout layout;
    private final ByteBuffer tables;
    private final int table;

    PlainCopy(Storage storage, ShardSummary shard, int valueBytes, Layout layout)
        throws IOException {
      this.valueBytes = valueBytes;
      this.chunks = new ByteBuffer[shard.chunkCount()];
      for (int i = 0; i < chunks.length; i++) {
        chunks[i] =
            map(storage.pathOf(shard.directory() + "/" + shard.chunks().get(i).fileName()));
      }
      this.layout = layout;
      TablesRef ref = shard.tables().get(0);
      this.tables = map(storage.pathOf(shard.directory() + "/" + ref.fileName()));
      this.table = section(ref, layout == Layout.ENTRIES ? "offsets" : "runs");
    }

    /** Returns the position of a table of the only field. */
    private int section(TablesRef ref, String name) {
      byte[] json = new byte[ref.jsonBytes()];
      tables.get((int) ref.jsonPosition(), json);
      Matcher found = Pattern.compile("\"" + name + "\":\\[(\\d+),")
          .matcher(new String(json, StandardCharsets.UTF_8));
      if (!found.find()) {
        throw new IllegalStateException("The shard has no " + name);
      }
      return Integer.parseInt(found.group(1));
    }

    private static ByteBuffer map(String path) throws IOException {
      try (FileChannel channel = FileChannel.open(Path.of(path))) {
        return channel
            .map(FileChannel.MapMode.READ_ONLY, 0, channel.size())
            .order(ByteOrder.LITTLE_ENDIAN);
      }
    }

    long[] places(long[] indices) {
      long[] places = new long[indices.length];
      for (int i = 0; i < places.length; i++) {
        places[i] = layout == Layout.ENTRIES ? placeByEntry(indices[i]) : placeByRun(indices[i]);
      }
      return places;
    }

    private long placeByEntry(long index) {
      // 1,024 entries and their checksums are a unit.
      int entry = table + (int) (index >>> 10) * 20_488 + (int) (index & 1023) * 16;
      return (long) tables.getInt(entry + 8) << OFFSET_BITS | tables.getLong(entry);
    }

    private long placeByRun(long index) {
      int run = table;
      while (index >= tables.getLong(run + 8) + tables.getLong(run + 16)) {
        run += 64;
      }
      long offset = tables.getLong(run + 24) + (index - tables.getLong(run + 8)) * valueBytes;
      return (long) tables.getInt(run + 4) << OFFSET_BITS | offset;
    }

    void copy(long[] places, ByteBuffer target) {
      int at = 0;
      for (long place : places) {
        target.put(at, chunks[(int) (place >>> OFFSET_BITS)], (int) place, valueBytes);
        at += valueBytes;
        if (at == BATCH_BYTES) {
          at = 0;
        }
      }
    }
  }
}
