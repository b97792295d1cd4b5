package io.zrecord.rebalance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ValueRange;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.Transform;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.ShardOnDisk;
import io.zrecord.verify.DatasetCheck;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Blocks of compressed values that are copied as they are stored. */
class StoredBlocksTest {
  private static final WriteOptions WRITE = WriteOptions.defaults()
      .withStripeBytes(1 << 20)
      .withBlockBytes(4096)
      .withDurability(Durability.NONE);
  private static final int COUNT = 20_000;

  @TempDir
  Path directory;

  private Storage storage;

  @BeforeEach
  void open() {
    storage = LocalStorage.at(directory);
  }

  /** Two compressions that differ in the bytes that they store, but not for readers. */
  private static RecordSchema schema(int level) {
    Compression zstd = Compression.parse("zstd:" + level);
    return RecordSchema.builder()
        .field("label", ElementType.I32, Shape.scalar(), zstd)
        .field("text", ElementType.UTF8, Shape.scalar(), zstd)
        .build();
  }

  private static byte[] text(int number) {
    return ("a text of record " + number + " ".repeat(number % 7)).getBytes(StandardCharsets.UTF_8);
  }

  private ShardSummary write(RecordSchema schema, WriteOptions options, int first, int count) {
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), schema, options)) {
      for (int i = first; i < first + count; i++) {
        if (i % 13 != 0) {
          writer.putInt(0, i * i % 1000);
        }
        if (i % 7 != 0) {
          byte[] text = text(i);
          writer.put(1, text, 0, text.length);
        }
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  /**
   * Writes a table whose shards are compressed with a level that its schema does not name, and
   * rebalances it.
   */
  private TableSnapshot rebalanced(int written, int wanted, WriteOptions options, int... cuts) {
    List<ShardSummary> shards = new ArrayList<>();
    int first = 0;
    for (int cut : cuts) {
      shards.add(write(schema(written), WRITE, first, cut - first));
      first = cut;
    }
    return rebalanced(shards, schema(wanted), options);
  }

  private TableSnapshot rebalanced(
      List<ShardSummary> shards, RecordSchema schema, WriteOptions options) {
    TableSnapshot snapshot = RecordTable.at(storage)
        .commit(TableChange.of(TableChange.Kind.CREATE, schema).shards(shards).build());
    RebalancePlan plan =
        RebalancePlan.of(snapshot, RebalanceOptions.defaults().withAllShards().withWrite(options));
    assertThat(TableRebalance.of(plan).run().failures()).isEmpty();
    TableSnapshot result = RecordTable.at(storage).latest();
    assertThat(DatasetCheck.of(directory.toString()).run(finding -> {}).isSound())
        .isTrue();
    check(result);
    return result;
  }

  private static void check(TableSnapshot snapshot) {
    try (RecordDataset dataset = RecordDataset.open(snapshot, ReadOptions.defaults())) {
      FieldReader text = dataset.reader("text");
      FieldReader label = dataset.reader("label");
      assertThat(text.selectRange(0, COUNT, 1L << 40)).isEqualTo(COUNT);
      assertThat(label.selectRange(0, COUNT, 1L << 40)).isEqualTo(COUNT);
      for (int i = 0; i < COUNT; i++) {
        assertThat(text.isAbsent(i)).isEqualTo(i % 7 == 0);
        assertThat(text.value(i)).isEqualTo(i % 7 == 0 ? new byte[0] : text(i));
        assertThat(label.isAbsent(i)).isEqualTo(i % 13 == 0);
        if (i % 13 != 0) {
          assertThat(label.view(i).getInt(0)).isEqualTo(i * i % 1000);
        }
      }
    }
  }

  /** Values of copied blocks are in the statistics as those of other blocks are. */
  @Test
  void statisticsStay() {
    ShardSummary written = write(schema(3), WRITE, 0, COUNT);
    TableSnapshot copied = rebalanced(List.of(written), schema(3), WRITE);
    try (RecordDataset dataset = RecordDataset.open(copied, ReadOptions.defaults())) {
      assertThat(dataset
              .indicesThatMayHave("label", new ValueRange.Integers(900, 2000))
              .count())
          .isEqualTo(COUNT);
      assertThat(dataset
              .indicesThatMayHave("label", new ValueRange.Integers(1000, 2000))
              .isEmpty())
          .isTrue();
      assertThat(dataset
              .indicesThatMayHave("text", new ValueRange.Texts("b", null))
              .isEmpty())
          .isTrue();
    }
  }

  private static long valueBytes(TableSnapshot snapshot, int field) {
    return snapshot.shards().stream()
        .mapToLong(shard -> shard.valueBytes().getOrDefault(field, 0L))
        .sum();
  }

  private long blocks(TableSnapshot snapshot, int field) {
    return snapshot.shards().stream()
        .mapToLong(shard -> ShardOnDisk.of(directory.resolve(shard.directory()))
            .field(field)
            .offsets()
            .bytes())
        .sum();
  }

  /** Labels that were not transposed stay so: transposed ones are much shorter. */
  @Test
  void wholeBlocksAreTakenOverAsTheyAre() {
    WriteOptions plain = WRITE.withTransform(Transform.NONE);
    ShardSummary written = write(schema(3), plain, 0, COUNT);
    ShardSummary again = write(schema(3), WRITE, 0, COUNT);
    assertThat(again.valueBytes().get(1)).isLessThan(written.valueBytes().get(1) * 9 / 10);
    TableSnapshot copied = rebalanced(List.of(written), schema(3), WRITE);
    // The last block is short, and was compressed again.
    assertThat(valueBytes(copied, 1))
        .isBetween(written.valueBytes().get(1) * 97 / 100, written.valueBytes().get(1));
    assertThat(blocks(copied, 2))
        .isEqualTo(ShardOnDisk.of(directory.resolve(written.directory()))
            .field(2)
            .offsets()
            .bytes());
  }

  @Test
  void blocksOfAnotherTransformAreCompressedAgain() {
    WriteOptions plain = WRITE.withTransform(Transform.NONE);
    ShardSummary written = write(schema(3), plain, 0, COUNT);
    WriteOptions transposed = WRITE.withTransform(Transform.TRANSPOSE);
    ShardSummary again = write(schema(3), transposed, 0, COUNT);
    TableSnapshot other = rebalanced(List.of(written), schema(3), transposed);
    assertThat(valueBytes(other, 1)).isEqualTo(again.valueBytes().get(1));
  }

  @Test
  void blocksOfAnotherLevelAreCompressedAgain() {
    ShardSummary fast = write(schema(1), WRITE, 0, COUNT);
    TableSnapshot other = rebalanced(19, 1, WRITE, COUNT);
    assertThat(valueBytes(other, 2)).isEqualTo(fast.valueBytes().get(2));
  }

  @Test
  void blocksOfAnotherLengthAreCompressedAgain() {
    WriteOptions longer = WRITE.withBlockBytes(32 << 10);
    ShardSummary direct = write(schema(3), longer, 0, COUNT);
    TableSnapshot other = rebalanced(3, 3, longer, COUNT);
    assertThat(valueBytes(other, 2)).isEqualTo(direct.valueBytes().get(2));
  }

  @Test
  void shortBlocksOfManyShardsAreJoined() {
    int[] cuts =
        java.util.stream.IntStream.rangeClosed(1, 200).map(i -> i * 100).toArray();
    ShardSummary whole = write(schema(3), WRITE, 0, COUNT);
    TableSnapshot joined = rebalanced(3, 3, WRITE, cuts);
    assertThat(joined.shards()).hasSize(1);
    assertThat(valueBytes(joined, 1)).isEqualTo(whole.valueBytes().get(1));
    assertThat(valueBytes(joined, 2)).isEqualTo(whole.valueBytes().get(2));
  }

  @Test
  void blocksOfShardsOfAnyLengthAreJoined() {
    rebalanced(3, 3, WRITE, 1, 3000, 3001, 9000, COUNT);
  }

  @Test
  void oneByOneBecomesBlocksAndBack() {
    TableSnapshot values = rebalanced(3, 3, WRITE.withBlockBytes(0), 7000, COUNT);
    assertThat(ShardOnDisk.of(directory.resolve(values.shards().get(0).directory()))
            .field(2)
            .blockBytes())
        .isZero();
    RebalancePlan plan =
        RebalancePlan.of(values, RebalanceOptions.defaults().withAllShards().withWrite(WRITE));
    assertThat(TableRebalance.of(plan).run().failures()).isEmpty();
    TableSnapshot blocks = RecordTable.at(storage).latest();
    check(blocks);
    assertThat(valueBytes(blocks, 2))
        .isEqualTo(write(schema(3), WRITE, 0, COUNT).valueBytes().get(2));
  }

  @Test
  void aValueOfNoBlockIsRefused() {
    RecordSchema schema = schema(3);
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), schema, WRITE)) {
      assertThatThrownBy(() -> writer.putOfBlock(0, new byte[4], 0, 4))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("'label'");
    }
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), schema, WRITE)) {
      assertThatThrownBy(() -> writer.putOfBlock(1, new byte[1], 0, 1))
          .isInstanceOf(IllegalStateException.class);
    }
  }
}
