package io.zrecord.rebalance.order;

import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.ShardList;
import io.zrecord.internal.shard.read.ShardedFieldReader;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.Supplier;

/**
 * An order, or a part of one, written by {@link IndexWriter#ofOrder}. Verified while reading.
 * Belongs to one thread.
 */
public final class StoredOrder implements OldIndices {
  static final RecordSchema SCHEMA =
      RecordSchema.builder().field("oldIndex", ElementType.I64).build();

  private final FieldReader reader;
  private final long firstIndex;
  private byte[] bytes = new byte[0];

  /**
   * Opens the order in some shards.
   *
   * @param shards one after another, at least one
   * @param firstIndex new index of the first record of the first shard
   */
  public StoredOrder(Storage storage, List<ShardSummary> shards, long firstIndex) {
    long[] lengths = shards.stream().mapToLong(ShardSummary::length).toArray();
    // Not shared: the shards are deleted after the relayout, perhaps by another process, and shared
    // ones would stay mapped in this process.
    List<Supplier<OpenShard>> opening = shards.stream()
        .<Supplier<OpenShard>>map(shard -> () -> OpenShards.unshared(storage, shard))
        .toList();
    this.reader = new ShardedFieldReader(
        SCHEMA.fields().get(0),
        new ShardList(lengths, opening),
        Verification.FIRST,
        new ReadMetrics());
    this.firstIndex = firstIndex;
  }

  /**
   * {@inheritDoc}
   *
   * @throws io.zrecord.errors.CorruptDataException if the stored order is damaged
   */
  @Override
  public void oldIndices(long firstNewIndex, long[] target, int count) {
    for (int done = 0; done < count; ) {
      int taken =
          reader.selectRange(firstNewIndex - firstIndex + done, count - done, Long.MAX_VALUE);
      if (bytes.length < taken * Long.BYTES) {
        bytes = new byte[taken * Long.BYTES];
      }
      reader.copyAll(bytes, 0);
      ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(target, done, taken);
      done += taken;
    }
  }
}
