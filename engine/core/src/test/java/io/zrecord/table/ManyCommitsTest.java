package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.read.FieldReader;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.Budget;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** However many narrow changes a small table has seen, a version names few files and few bytes. */
final class ManyCommitsTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("number", ElementType.I64).build();
  private static final WriteOptions WRITE =
      WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
  private static final int SHARDS = 4;
  private static final int RECORDS = 200;

  /** More commits than a patch may have chunks, so that something must give way. */
  private static final int LEAST_COMMITS = PatchRef.MOST_CHUNKS + 30;

  private final Random random = Budget.random();

  @TempDir
  Path directory;

  /** How a table is cared for meanwhile. */
  enum Upkeep {
    /** Nobody cares: changes write a shard again whose patch has too many chunks. */
    NONE(PatchRef.MOST_CHUNKS),
    /** All shards are written again now and then. */
    REBALANCE(25),
    /** A rebalance that picks its shards itself, now and then. */
    FOLD(PatchRef.MOST_CHUNKS);

    /** Most commits after which a patch of a shard is dropped. */
    private final int mostPatchChunks;

    Upkeep(int mostPatchChunks) {
      this.mostPatchChunks = mostPatchChunks;
    }

    RebalanceOptions options() {
      RebalanceOptions options = RebalanceOptions.defaults().withWrite(WRITE);
      return this == REBALANCE ? options.withAllShards() : options;
    }
  }

  /** What a version costs. */
  private record Cost(int files, long manifestBytes, long patchBytes) {
    static Cost of(Storage storage, TableSnapshot version) {
      int files = 0;
      long patches = 0;
      for (ShardSummary shard : version.shards()) {
        files += shard.chunkCount() + shard.tables().size();
        PatchRef patch = shard.patch();
        if (patch != null) {
          files++;
          patches += patch.bytes();
        }
      }
      return new Cost(files, storage.lengthBytes(ManifestNames.nameOf(version.version())), patches);
    }

    Cost max(Cost other) {
      return new Cost(
          Math.max(files, other.files),
          Math.max(manifestBytes, other.manifestBytes),
          Math.max(patchBytes, other.patchBytes));
    }
  }

  @ParameterizedTest
  @EnumSource
  void whatAVersionNamesIsBounded(Upkeep upkeep) {
    Storage storage = LocalStorage.at(directory.resolve("table"));
    RecordTable table = RecordTable.at(storage);
    List<ShardSummary> shards = new ArrayList<>();
    List<Long> numbers = new ArrayList<>();
    for (int i = 0; i < SHARDS; i++) {
      shards.add(shard(storage, numbers));
    }
    table.commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA).shards(shards).build());
    int commits = Math.max(LEAST_COMMITS, Budget.of(500));
    Cost most = Cost.of(storage, table.latest());
    long heap = 0;
    for (int commit = 1; commit <= commits; commit++) {
      change(table, numbers);
      if (upkeep != Upkeep.NONE && commit % Upkeep.REBALANCE.mostPatchChunks == 0) {
        TableRebalance.of(RebalancePlan.of(table.latest(), upkeep.options())).run();
      }
      most = most.max(Cost.of(storage, table.latest()));
      if (commit == LEAST_COMMITS / 2) {
        heap = usedHeap();
      }
    }
    assertThat(values(table.latest())).isEqualTo(numbers);
    // A shard has a chunk and a tables file, and its patch a chunk for each commit.
    int mostFiles = SHARDS * (upkeep.mostPatchChunks + 3);
    assertThat(most.files).isLessThanOrEqualTo(mostFiles);
    assertThat(most.manifestBytes).isLessThanOrEqualTo(2048 + 96L * mostFiles);
    // Every record of a shard in its patch.
    assertThat(most.patchBytes).isLessThanOrEqualTo(SHARDS * (8192 + 64L * RECORDS));
    assertThat(usedHeap() - heap).as("growth of the heap").isLessThan(16 << 20);
  }

  private static long usedHeap() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }

  private ShardSummary shard(Storage storage, List<Long> numbers) {
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, WRITE)) {
      for (int i = 0; i < RECORDS; i++) {
        long number = random.nextLong();
        writer.putLong(0, number);
        writer.endRecord();
        numbers.add(number);
      }
      return writer.finish().orElseThrow();
    }
  }

  /** Changes a record in about each shard. */
  private void change(RecordTable table, List<Long> numbers) {
    RowChange change = RowChange.of(table.latest());
    for (int i = 0; i < SHARDS; i++) {
      int index = i * RECORDS + random.nextInt(RECORDS);
      long number = random.nextLong();
      change.update(index, "number", number);
      numbers.set(index, number);
    }
    change.commit();
  }

  private static List<Long> values(TableSnapshot version) {
    try (RecordDataset dataset =
        RecordDataset.open(version, RecordDataset.ReadOptions.defaults())) {
      int length = (int) dataset.length();
      FieldReader reader = dataset.reader("number");
      reader.select(LongStream.range(0, length).toArray(), 0, length);
      List<Long> values = new ArrayList<>();
      for (int i = 0; i < length; i++) {
        values.add(
            ByteBuffer.wrap(reader.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong());
      }
      return values;
    }
  }
}
