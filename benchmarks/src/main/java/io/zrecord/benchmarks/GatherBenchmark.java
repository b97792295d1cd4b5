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
import io.zrecord.table.write.ShardWriter;
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
 * page cache and larger than the CPU's caches. Contestants take turns, slice by slice; figures are
 * medians of 101 slices.
 *
 * <p>Argument: a directory for 3 GiB of data (default: the temporary directory).
 */
public final class GatherBenchmark {
  private static final int BATCH_BYTES = 4 << 20;
  private static final long DATA_BYTES = Math.max(BATCH_BYTES, Effort.of(3L << 30));
  private static final int SLICE_BYTES = Math.max(1, Effort.of(16)) * BATCH_BYTES;
  private static final int WARM_UP_ROUNDS = Effort.warmUps(50);
  private static final int ROUNDS = Effort.rounds(101);
  private static final int SEED = 20;

  /** How the values are found (docs/spec/FORMAT.md section 5). */
  private enum Layout {
    VARIABLE,
    FIXED;

    RecordSchema schema(int valueBytes) {
      RecordSchema.Builder fields = RecordSchema.builder();
      return this == VARIABLE
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

  private GatherBenchmark(PrintStream out, Path directory) {
    this.out = out;
    this.directory = directory;
  }

  public static void main(String[] arguments) throws Exception {
    Path directory =
        Path.of(arguments.length > 0 ? arguments[0] : System.getProperty("java.io.tmpdir"));
    new GatherBenchmark(System.out, directory).run();
  }

  private void run() throws Exception {
    out.printf(
        "Random gather of slices of %d MiB from %d MiB, medians of %d slices (seed %d)%n",
        SLICE_BYTES >> 20, DATA_BYTES >> 20, ROUNDS, SEED);
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
    compare(dataset, plain, valueBytes);
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
    double[] plainRates = new double[ROUNDS];
    double[] engineRates = new double[ROUNDS];
    for (int round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
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

  /** Requires that both copy the same bytes. */
  private static void compare(RecordDataset dataset, PlainCopy plain, int valueBytes) {
    FieldReader reader = dataset.reader("value");
    long[] indices =
        new Random(SEED).longs(BATCH_BYTES / valueBytes, 0, dataset.length()).toArray();
    ByteBuffer gathered = ByteBuffer.allocateDirect(BATCH_BYTES);
    ByteBuffer copied = ByteBuffer.allocateDirect(BATCH_BYTES);
    reader.select(indices, 0, indices.length);
    reader.copyAll(gathered);
    plain.copy(plain.places(indices), copied);
    if (!gathered.clear().equals(copied)) {
      throw new IllegalStateException("The engine and the plain copy have other bytes");
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
    private static final int RUN_BYTES = 64;
    private static final int BLOCK_VALUES = 1024;

    private final int valueBytes;
    private final ByteBuffer[] chunks;
    private final Layout layout;
    private final ByteBuffer tables;
    private final int runs;
    private final int blocks;

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
      this.runs = section(ref, "runs");
      this.blocks = layout == Layout.VARIABLE ? section(ref, "offsets") : 0;
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
        places[i] = place(indices[i]);
      }
      return places;
    }

    private long place(long index) {
      int run = runs;
      while (index >= tables.getLong(run + 8) + tables.getLong(run + 16)) {
        run += RUN_BYTES;
      }
      long inRun = index - tables.getLong(run + 8);
      long offset = layout == Layout.FIXED
          ? tables.getLong(run + 24) + inRun * valueBytes
          : endInVariableRun(run, inRun) - valueBytes;
      return (long) tables.getInt(run + 4) << OFFSET_BITS | offset;
    }

    /** Returns where a value ends in its chunk: an end in a block, which counts from its base. */
    private long endInVariableRun(int run, long inRun) {
      int unitValues = tables.getInt(run + 56);
      int units = unitValues == 0 ? 0 : BLOCK_VALUES / unitValues;
      // The base, ends, checksums of units, and the checksum of these, up to a multiple of 8.
      int stride = 8 + (4 * BLOCK_VALUES + 4 * units + 4 + 7) / 8 * 8;
      int block =
          Math.toIntExact(blocks + tables.getLong(run + 48) + inRun / BLOCK_VALUES * stride);
      int end = tables.getInt(block + 8 + 4 * (int) (inRun % BLOCK_VALUES));
      return tables.getLong(block) + Integer.toUnsignedLong(end);
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
