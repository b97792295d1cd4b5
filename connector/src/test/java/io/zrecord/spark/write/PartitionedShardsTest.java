package io.zrecord.spark.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.MemoryStorage;
import java.util.List;
import java.util.UUID;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;

/** How many shards a task writes. */
final class PartitionedShardsTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("p", ElementType.I32).build();

  /** Further shards that a task may begin. */
  private static final int FURTHER = 10_000;

  /** Shards that a task has open where rows come in any order. */
  private static final int OPEN = 16;

  /** Writes rows, each of a partition that its number gives. */
  private List<ShardSummary> write(boolean isSorted, int rows, IntUnaryOperator partition) {
    return write(isSorted, rows, partition, Long.MAX_VALUE);
  }

  private List<ShardSummary> write(
      boolean isSorted, int rows, IntUnaryOperator partition, long shardBytes) {
    WriteOptions options =
        WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
    PartitionField[] fields = {
      PartitionField.ofColumn(0, SCHEMA.fields().get(0), DataTypes.IntegerType)
    };
    try (TaskShards shards = new PartitionedShards(
        new RowPartitions(fields),
        isSorted ? 1 : OPEN,
        // A storage in memory is slow where it has very many files.
        texts -> ShardWriter.create(
            new MemoryStorage(), UUID.randomUUID(), SCHEMA, options, List.of(1), texts),
        new SealedShards(written -> {}),
        shardBytes)) {
      for (int i = 0; i < rows; i++) {
        int value = partition.applyAsInt(i);
        InternalRow row = new GenericInternalRow(new Object[] {value});
        ShardWriter shard = shards.shardOf(row);
        shard.putInt(0, value);
        shard.endRecord();
      }
      return shards.finish();
    }
  }

  @Test
  void aTaskWritesAnyNumberOfPartitions() {
    int count = FURTHER + 100;
    for (boolean isSorted : new boolean[] {true, false}) {
      assertThat(write(isSorted, count, i -> i).stream()
              .map(shard -> shard.partition().get(0)))
          .containsExactlyElementsOf(
              IntStream.range(0, count).mapToObj(String::valueOf).toList());
    }
  }

  @Test
  void aTaskThatComesBackToPartitionsAllTheTimeIsTold() {
    int turns = OPEN + 1;
    assertThat(write(false, FURTHER + turns, i -> i % turns)).hasSize(FURTHER + turns);
    assertThatThrownBy(() -> write(false, FURTHER + turns + 1, i -> i % turns))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(String.valueOf(FURTHER))
        .hasMessageContaining(OPEN + " partitions")
        .hasMessageContaining("distribution")
        .hasMessageContaining("sort the rows")
        .hasMessageContaining("MERGE");
  }

  @Test
  void aShardEndsWhenItHasEnoughBytesAndItsPartitionHasTheNext() {
    int rows = 100_000;
    List<ShardSummary> written = write(false, rows, i -> i % 2, 1 << 16);
    assertThat(written).hasSizeBetween(4, 8);
    assertThat(written.stream().mapToLong(ShardSummary::length).sum()).isEqualTo(rows);
    assertThat(written).allMatch(shard -> shard.chunkBytes() <= 2 << 16);
    for (String value : List.of("0", "1")) {
      assertThat(written.stream()
              .filter(shard -> value.equals(shard.partition().get(0)))
              .mapToLong(ShardSummary::length)
              .sum())
          .isEqualTo(rows / 2);
    }
    assertThat(write(true, 2, i -> 0, 1)).as("a shard with no bytes goes on").hasSize(1);
  }

  @Test
  void aTaskComesBackToOpenShardsAsOftenAsRowsDo() {
    assertThat(write(false, 3 * FURTHER, i -> i % OPEN)).hasSize(OPEN);
  }
}
