package io.zrecord.feed;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.sampler.Remainder;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.UnmappedStorage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a feed asks of a storage whose files are not mapped. */
final class RemoteFeedTest {
  private static final int SHARDS = 2;
  private static final int RECORDS = 1024;
  private static final int VALUE_BYTES = 16 << 10;
  private static final long DATA_BYTES = (long) SHARDS * RECORDS * VALUE_BYTES;
  private static final int BLOCK = 64;
  private static final int MIXED = 8;
  private static final int EPOCHS = 2;

  @TempDir
  Path directory;

  @BeforeEach
  void write() {
    RecordSchema schema = RecordSchema.builder().field("v", ElementType.BYTES).build();
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(directory.toString(), schema, options)) {
      byte[] value = new byte[VALUE_BYTES];
      for (int shard = 0; shard < SHARDS; shard++) {
        ShardWriter records = writer.newAppender().shard();
        for (int i = 0; i < RECORDS; i++) {
          ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).putInt(shard * RECORDS + i);
          records.put(0, value, 0, value.length);
          records.endRecord();
        }
      }
      writer.commit();
    }
  }

  @AfterEach
  void forgetShards() {
    OpenShards.shared().clear();
  }

  private Sampler blocks() {
    return Samplers.blockShuffle((long) SHARDS * RECORDS, BLOCK, MIXED, 7);
  }

  /** Takes all batches, and checks that each epoch has each record once, in the sampler's order. */
  private static void requireFed(RecordDataset dataset, Sampler order, int loaders) {
    requireFed(dataset, order, loaders, EPOCHS);
  }

  private static void requireFed(RecordDataset dataset, Sampler order, int loaders, int epochs) {
    try (Feed feed = Feed.of(FeedGroup.of(dataset).batchSize(BLOCK).sampler(order, 7))
        .stopBeforeEpoch(epochs)
        .loaderThreads(loaders)
        // So that no part is given up while a batch of it is loaded.
        .depth(Math.min(2 * loaders + 2, MIXED))
        .start()) {
      for (int epoch = 0; epoch < epochs; epoch++) {
        BitSet seen = new BitSet();
        for (long at = 0; at < order.length(); at += BLOCK) {
          try (FeedBatch batch = Objects.requireNonNull(feed.next())) {
            for (int i = 0; i < BLOCK; i++) {
              int number = batch.value("v", i).order(ByteOrder.LITTLE_ENDIAN).getInt(0);
              assertThat((long) number).isEqualTo(order.index(epoch, at + i));
              seen.set(number);
            }
          }
        }
        assertThat(seen.cardinality()).isEqualTo(SHARDS * RECORDS);
      }
      assertThat(feed.next()).isNull();
      FeedStatistics statistics = feed.statistics();
      assertThat(statistics.bytes()).isEqualTo(epochs * DATA_BYTES);
      // Blocks at the end of an epoch may be there still when the next one begins.
      assertThat(statistics.requestedBytes()).isGreaterThanOrEqualTo(DATA_BYTES);
      assertThat(statistics.requests()).isPositive();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void blocksAreAskedForOnceThoughBatchesComeBackToThem(int loaders) {
    UnmappedStorage storage = new UnmappedStorage(LocalStorage.at(directory), 1 << 20);
    try (RecordDataset dataset = RecordDataset.open(storage, ReadOptions.defaults())) {
      requireFed(dataset, blocks(), loaders);
      long blockCount = (long) SHARDS * RECORDS / BLOCK;
      assertThat(storage.requestedBytes()).isLessThan(EPOCHS * DATA_BYTES * 11 / 10);
      assertThat((long) storage.requests()).isLessThan(EPOCHS * blockCount * 12 / 10 + 10);
    }
  }

  /** Loaders of the last batches of an epoch and of the first of the next work at once. */
  @Test
  void whereAnEpochEndsNothingIsAskedForTwice() {
    UnmappedStorage storage = new UnmappedStorage(LocalStorage.at(directory), 1 << 20);
    storage.begin(5);
    int epochs = 6;
    try (RecordDataset dataset = RecordDataset.open(storage, ReadOptions.defaults())) {
      requireFed(dataset, blocks(), 6, epochs);
      assertThat(storage.requestedBytes()).isLessThan(epochs * DATA_BYTES * 11 / 10);
    }
  }

  /** The control: the same records in the same order, by a sampler that does not say its parts. */
  @Test
  void anOrderWithoutPartsAsksForBlocksAgainAndAgain() {
    UnmappedStorage storage = new UnmappedStorage(LocalStorage.at(directory), 1 << 20);
    long[] listed = new long[SHARDS * RECORDS];
    blocks().withEpoch(0).indices(0, 0, listed, 0, listed.length);
    try (RecordDataset dataset = RecordDataset.open(storage, ReadOptions.defaults())) {
      requireFed(dataset, Samplers.list(listed), 1);
      assertThat(storage.requestedBytes()).isGreaterThan(2 * EPOCHS * DATA_BYTES);
    }
  }

  @Test
  void sharesAndSlicesOfAnOrderHaveItsParts() {
    Sampler share = blocks().share(1, 2, Remainder.DROP);
    assertThat(share.endOfPart(0, 0)).isEqualTo(BLOCK * MIXED / 2);
    assertThat(share.endOfPart(0, 5)).isEqualTo(BLOCK * MIXED / 2);
    assertThat(blocks().skip(10).endOfPart(0, 0)).isEqualTo(BLOCK * MIXED - 10);
    assertThat(blocks().endOfPart(0, BLOCK * MIXED)).isEqualTo(2L * BLOCK * MIXED);
    assertThat(Samplers.shuffle(100, 1).endOfPart(0, 3)).isEqualTo(4);
  }

  /** The bytes are right when they are asked for again, so that no record is bad. */
  @ParameterizedTest
  @EnumSource(value = BadRecordPolicy.class, names = "FAIL", mode = EnumSource.Mode.EXCLUDE)
  void bytesThatCameWrongOnceCostNoRecord(BadRecordPolicy policy) {
    UnmappedStorage storage = new UnmappedStorage(LocalStorage.at(directory), 1 << 20);
    try (RecordDataset dataset = RecordDataset.open(storage, ReadOptions.defaults());
        Feed feed = Feed.of(FeedGroup.of(dataset)
                .batchSize(BLOCK)
                .sampler(Samplers.sequential((long) SHARDS * RECORDS), 0))
            .stopBeforeEpoch(1)
            .badRecords(policy)
            .start()) {
      storage.spoilNext(1);
      long next = 0;
      for (FeedBatch batch : feed) {
        try (batch) {
          for (int i = 0; i < batch.count(); i++) {
            int number = batch.value("v", i).order(ByteOrder.LITTLE_ENDIAN).getInt(0);
            assertThat(number).isEqualTo((int) next++);
          }
        }
      }
      assertThat(next).isEqualTo((long) SHARDS * RECORDS);
      assertThat(feed.statistics().badRecords()).isZero();
      assertThat(dataset.metrics().checksumFailures.sum()).isPositive();
    }
  }
}
