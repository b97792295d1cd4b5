package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.JavaProcess;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A rebalance in a process with a heap that is smaller than one of the values, and hardly larger
 * than the stripe.
 */
class StoreRebalanceMemoryTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("large", ElementType.BYTES)
      .field("label", ElementType.I32)
      .build();

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  @Test
  void largeValuesGoThroughInPieces() throws Exception {
    rebalanceInSmallHeap(64 << 20, 5);
  }

  @Test
  void manySmallValuesNeedNoMore() throws Exception {
    rebalanceInSmallHeap(1 << 10, Math.max(60_000, Budget.of(200_000)));
  }

  private void rebalanceInSmallHeap(int valueBytes, int records) throws Exception {
    Path path = directory.resolve("store");
    byte[] value = new byte[valueBytes];
    try (RecordStore store = RecordStore.create(
        path, SCHEMA, StoreOptions.defaults().withDurability(StoreDurability.NONE))) {
      RecordValues values = store.newValues();
      for (int i = 0; i < records; i++) {
        fill(value, i);
        store.append(values.set("large", value).set("label", i));
      }
      store.delete(0);
    }
    JavaProcess.Result result = JavaProcess.of(Rebalancing.class)
        // Other collectors need free regions beside each other for a long array.
        .option("-XX:+UseSerialGC")
        .option("-Xmx32m")
        .option("-XX:MaxDirectMemorySize=16m")
        .run(path.toString());
    System.out.print(result.output());
    assertThat(result.exitCode()).as(result.output()).isZero();
    try (StoreReader reader = StoreReader.open(path)) {
      assertThat(reader.length()).isEqualTo(records - 1L);
      for (int i = 0; i < records; i += Math.max(1, records / 100)) {
        int index = Math.min(i, records - 2);
        fill(value, index == 0 ? records - 1 : index);
        try (Batch batch = reader.gather(new long[] {index})) {
          assertThat(Arrays.equals(batch.bytes("large", 0), value)).isTrue();
        }
      }
    }
  }

  private static void fill(byte[] value, int number) {
    new SplittableRandom(number).nextBytes(value);
  }

  /** The process. */
  static final class Rebalancing {
    private Rebalancing() {}

    public static void main(String[] arguments) {
      StoreRebalanceResult result = StoreRebalance.of(
              Path.of(arguments[0]),
              StoreRebalanceOptions.defaults().withMinUtilization(1).withStripeBytes(8 << 20))
          .run();
      System.out.printf(
          "%d bytes in a heap of %d%n",
          result.chunkBytesAfter(), Runtime.getRuntime().maxMemory());
      System.exit(result.isRewritten() ? 0 : 2);
    }
  }
}
