package io.zrecord.benchmarks;

import io.zrecord.RecordDataset;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;

/**
 * Measures random gathers and scans of the same values written with several alignments. The data
 * are in the page cache, and verified before. Contestants take turns; figures are medians of 31
 * gathers of 64 MiB and of 9 scans of 1 GiB.
 *
 * <p>Argument: a work directory, for 5 GiB.
 */
public final class AlignmentBenchmark {
  private static final long DATA_BYTES = Effort.of(1L << 30);
  private static final int GATHERED_BYTES = Effort.of(64 << 20);
  private static final int BATCH_BYTES = 4 << 20;
  private static final long[] ALIGNMENTS = {8, 64, 4096};

  private final Path work;
  private final RecordSchema schema;
  private final int valueBytes;
  private final Random random = new Random(20);
  private final ByteBuffer target = ByteBuffer.allocateDirect(BATCH_BYTES);
  private long[] indices = new long[0];

  private AlignmentBenchmark(Path work, RecordSchema schema, int valueBytes) {
    this.work = work;
    this.schema = schema;
    this.valueBytes = valueBytes;
  }

  public static void main(String[] arguments) throws IOException {
    Path work = Files.createDirectories(Path.of(arguments[0])).resolve("alignment");
    System.out.printf("%n| values | aligned to | gather (GiB/s) | scan (GiB/s) | bytes |%n");
    System.out.println("|---|---|---|---|---|");
    for (int bytes : new int[] {784, 4096, 5000}) {
      Shape shape = Shape.of(bytes / 4);
      measure(work, bytes + " bytes, entries", schema(ElementType.BYTES, Shape.scalar()), bytes);
      measure(work, bytes + " bytes, runs", schema(ElementType.F32, shape), bytes);
    }
  }

  private static RecordSchema schema(ElementType type, Shape shape) {
    return RecordSchema.builder().field("value", type, shape, Compression.RAW).build();
  }

  private static void measure(Path work, String title, RecordSchema schema, int valueBytes)
      throws IOException {
    Workplace.delete(work);
    new AlignmentBenchmark(work, schema, valueBytes).measure(title);
    Workplace.delete(work);
  }

  private void measure(String title) throws IOException {
    Storage storage = LocalStorage.at(Files.createDirectories(work));
    Contest gathers = new Contest(title, 10, 31);
    Contest scans = new Contest(title, 2, 9);
    long[] chunkBytes = new long[ALIGNMENTS.length];
    for (int i = 0; i < ALIGNMENTS.length; i++) {
      ShardSummary shard = write(storage, ALIGNMENTS[i]);
      chunkBytes[i] = shard.chunkBytes();
      RecordDataset dataset =
          RecordDataset.openShard(storage, schema, shard, RecordDataset.ReadOptions.defaults());
      FieldReader reader = dataset.reader("value");
      scan(reader, dataset.length());
      String name = Long.toString(ALIGNMENTS[i]);
      gathers.add(name, () -> choose(dataset.length()), () -> gather(reader));
      scans.add(name, () -> scan(reader, dataset.length()));
    }
    List<Double> gathered = List.copyOf(gathers.medians().values());
    List<Double> scanned = List.copyOf(scans.medians().values());
    for (int i = 0; i < ALIGNMENTS.length; i++) {
      System.out.printf(
          Locale.ROOT,
          "| %s | %d | %.2f | %.2f | %d |%n",
          title,
          ALIGNMENTS[i],
          (double) GATHERED_BYTES / (1 << 30) / gathered.get(i),
          (double) DATA_BYTES / (1 << 30) / scanned.get(i),
          chunkBytes[i]);
    }
  }

  private ShardSummary write(Storage storage, long alignBytes) {
    byte[] value = new byte[valueBytes];
    WriteOptions options =
        WriteOptions.defaults().withDurability(Durability.NONE).withAlignBytes(alignBytes);
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), schema, options)) {
      for (long written = 0; written < DATA_BYTES; written += valueBytes) {
        random.nextBytes(value);
        writer.put(0, value, 0, valueBytes);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private void choose(long length) {
    indices = random.longs(GATHERED_BYTES / valueBytes, 0, length).toArray();
  }

  private void gather(FieldReader reader) {
    int batch = BATCH_BYTES / valueBytes;
    for (int from = 0; from < indices.length; from += batch) {
      reader.select(indices, from, Math.min(batch, indices.length - from));
      reader.copyAll(target.clear());
    }
  }

  private void scan(FieldReader reader, long length) {
    for (long next = 0; next < length; ) {
      next += reader.selectRange(next, (int) Math.min(1 << 16, length - next), BATCH_BYTES);
      reader.copyAll(target.clear());
    }
  }
}
