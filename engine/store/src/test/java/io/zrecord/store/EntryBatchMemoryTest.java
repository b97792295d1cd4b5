package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.ChangeBase;
import io.zrecord.table.MergeChange;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.ShardChangeWriter;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.JavaProcess;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Values of a store that are a thousand times as long as they are stored, under a patch, are
 * written again in a process with a heap of some batches of decoded values, not of stored ones.
 */
final class EntryBatchMemoryTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("large", ElementType.BYTES, Shape.scalar(), Compression.of(Codec.ZSTD))
      .field("label", ElementType.I32)
      .build();
  private static final int VALUE_BYTES = 1 << 20;
  private static final int MOST_BATCH_BYTES = 16 << 20;
  private static final int STRIPE_BYTES = 8 << 20;

  /** For the process itself, and for values while they are decoded and encoded. */
  private static final int BASE_BYTES = 24 << 20;

  /** Stored, all of these values are fewer bytes than a batch. */
  private static final int RECORDS = Math.max(160, Budget.of(800));

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  private RecordTable table;

  /** Makes a table of a store, of which values were changed and a record was deleted. */
  @BeforeEach
  void create() {
    Path path = directory.resolve("store");
    try (RecordStore store = RecordStore.create(
        path, SCHEMA, StoreOptions.defaults().withDurability(StoreDurability.NONE))) {
      RecordValues values = store.newValues();
      for (int i = 0; i < RECORDS; i++) {
        store.append(values.set("large", value(i)).set("label", i));
      }
    }
    StoreSnapshot.create(path, directory.resolve("table"));
    table = RecordTable.at(LocalStorage.at(directory.resolve("table")));
    RowChange change = RowChange.of(table.latest());
    change.update(1, "large", value(RECORDS));
    change.update(1, "label", -1);
    change.delete(RECORDS - 1);
    change.commit();
  }

  private static byte[] value(int number) {
    byte[] value = new byte[VALUE_BYTES];
    Arrays.fill(value, (byte) number);
    return value;
  }

  private void runInSmallHeap(String what) throws Exception {
    JavaProcess.Result result = JavaProcess.of(Rewriting.class)
        // Other collectors need free regions beside each other for a long array.
        .option("-XX:+UseSerialGC")
        .option("-Xmx" + (MOST_BATCH_BYTES + BASE_BYTES))
        .option("-XX:MaxDirectMemorySize=" + 3 * STRIPE_BYTES)
        .run(directory.resolve("table").toString(), what);
    System.out.print(result.output());
    assertThat(result.exitCode()).as(result.output()).isZero();
  }

  private void requireValues(int changedFrom) {
    try (RecordDataset dataset =
        RecordDataset.open(table.latest(), RecordDataset.ReadOptions.defaults())) {
      assertThat(dataset.length()).isEqualTo(RECORDS - 1);
      for (int i = 0; i < RECORDS - 1; i += i < 3 ? 1 : 13) {
        try (Batch batch = dataset.gather(new long[] {i}, "large")) {
          byte[] expected = i >= changedFrom ? new byte[] {(byte) i} : value(i == 1 ? RECORDS : i);
          assertThat(Arrays.equals(batch.bytes("large", 0), expected))
              .as("%d", i)
              .isTrue();
        }
      }
    }
  }

  @Test
  void aRebalanceReadsDecodedBatches() throws Exception {
    runInSmallHeap("rebalance");
    assertThat(table.latest().operation()).isEqualTo("rebalance");
    requireValues(RECORDS);
  }

  @Test
  void aFieldThatLeavesAPatchIsReadInDecodedBatches() throws Exception {
    runInSmallHeap("change");
    assertThat(table.latest().shards().get(0).tables()).hasSizeGreaterThan(1);
    requireValues(RECORDS - 1 - PatchRef.MOST_CHUNKS);
  }

  /** The process. */
  static final class Rewriting {
    private Rewriting() {}

    public static void main(String[] arguments) {
      RecordTable table = RecordTable.at(LocalStorage.at(Path.of(arguments[0])));
      if (arguments[1].equals("rebalance")) {
        RebalanceOptions options = RebalanceOptions.defaults()
            .withAllShards()
            .withWrite(WriteOptions.defaults().withStripeBytes(STRIPE_BYTES));
        TableRebalance.of(RebalancePlan.of(table.latest(), options)).threads(1).run();
      } else {
        change(table);
      }
      System.out.printf(
          "%s of %d values in a heap of %d%n",
          arguments[1], RECORDS, Runtime.getRuntime().maxMemory());
      System.exit(0);
    }

    /** Changes the last values by so many tasks that a patch cannot have them. */
    private static void change(RecordTable table) {
      TableSnapshot base = table.latest();
      ShardSummary shard = base.shards().get(0);
      MergeChange merge = MergeChange.of(base);
      for (int task = 0; task < PatchRef.MOST_CHUNKS; task++) {
        long index = shard.length() - PatchRef.MOST_CHUNKS + task;
        try (ShardChangeWriter writer =
            ShardChangeWriter.open(base.storage(), ChangeBase.of(base), shard, Set.of("large"))) {
          writer.update(index, "large", new byte[] {(byte) index});
          merge.change(writer.finish());
        }
      }
      merge.commit();
    }
  }
}
