package io.zrecord.rebalance;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.JavaProcess;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A group of a table is rewritten, as a task of Spark does it too, in a process with a heap of a
 * batch, or of one value for each field, and of direct memory of the stripe.
 */
class RebalanceMemoryTest {
  private static final int MIB = 1 << 20;
  private static final int STRIPE_BYTES = 8 * MIB;

  /** For the process itself and its tables of places. */
  private static final int BASE_BYTES = 16 * MIB;

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  @Test
  void valuesOf64MiBNeedOneOfThemForEachField() throws Exception {
    rewriteInSmallHeap(64 * MIB, 5, Compression.RAW, 64 * MIB);
  }

  @Test
  void theyNeedThreeMoreIfTheFieldIsCompressed() throws Exception {
    rewriteInSmallHeap(64 * MIB, 3, Compression.of(Codec.ZSTD), 4 * 64 * MIB);
  }

  @Test
  void valuesOf1KiBNeedABatch() throws Exception {
    int records = Math.max(60_000, Budget.of(200_000));
    rewriteInSmallHeap(1 << 10, records, Compression.RAW, 16 * MIB);
  }

  private void rewriteInSmallHeap(
      int valueBytes, int records, Compression compression, int heapBytes) throws Exception {
    RecordSchema schema = RecordSchema.builder()
        .field("large", ElementType.BYTES, Shape.scalar(), compression)
        .field("label", ElementType.I32)
        .build();
    Path path = directory.resolve("table");
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(
        path.toString(), schema, WriteOptions.defaults().withDurability(Durability.NONE))) {
      // Two shards, which become one.
      for (int half = 0; half < 2; half++) {
        RecordAppender appender = writer.newAppender();
        for (int i = half * records / 2; i < (half + 1) * records / 2; i++) {
          appender.set("large", value(valueBytes, i, records)).set("label", i).endRecord();
        }
      }
      writer.commit();
    }
    JavaProcess.Result result = JavaProcess.of(Rebalancing.class)
        // Other collectors need free regions beside each other for a long array. This one has the
        // array in the old generation, which is all of the heap but for what is given here.
        .option("-XX:+UseSerialGC")
        .option("-Xmn4m")
        .option("-Xmx" + (heapBytes + BASE_BYTES))
        .option("-XX:MaxDirectMemorySize=" + 2 * STRIPE_BYTES)
        .run(path.toString());
    System.out.print(result.output());
    assertThat(result.exitCode()).as(result.output()).isZero();
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      assertThat(dataset.length()).isEqualTo(records);
      for (int i = 0; i < records; i += Math.max(1, records / 100)) {
        try (Batch batch = dataset.gather(new long[] {i})) {
          assertThat(Arrays.equals(batch.bytes("large", 0), value(valueBytes, i, records)))
              .isTrue();
        }
      }
    }
  }

  /**
   * Makes values of which each is a little longer than the one before, so that buffers grow, and a
   * quarter of each can be saved.
   */
  private static byte[] value(int mostBytes, int number, int records) {
    byte[] value = new byte[mostBytes - (records - 1 - number) * (mostBytes / 8 / records)];
    new SplittableRandom(number).nextBytes(value);
    for (int i = 0; i < value.length; i++) {
      value[i] &= 0x3f;
    }
    return value;
  }

  /** The process. */
  static final class Rebalancing {
    private Rebalancing() {}

    public static void main(String[] arguments) {
      long target = 1L << 40;
      RebalanceOptions options = RebalanceOptions.defaults()
          .withShardBytes(target, target)
          .withWrite(WriteOptions.defaults().withStripeBytes(STRIPE_BYTES));
      RecordTable table = RecordTable.at(LocalStorage.at(Path.of(arguments[0])));
      RebalanceResult result =
          TableRebalance.of(RebalancePlan.of(table.latest(), options)).run();
      System.out.printf(
          "%d bytes in a heap of %d%n",
          result.after().valueBytes(), Runtime.getRuntime().maxMemory());
      System.exit(result.groups() == 1 ? 0 : 2);
    }
  }
}
