package io.zrecord.rebalance.order;

import io.zrecord.Spi;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.IndexMap;
import io.zrecord.table.write.ShardWriter;
import java.util.Optional;
import java.util.UUID;

/**
 * Writes indices to a shard of its own, such as an index map (FORMAT.md section 7). The shard
 * always has checksums, because a wrong index could not be told from a right one. Memory is that of
 * a stripe. Belongs to one thread.
 */
@Spi
public final class IndexWriter implements AutoCloseable {
  private static final int BLOCK = 1 << 13;

  private final ShardWriter writer;

  private IndexWriter(Storage storage, RecordSchema schema, WriteOptions options) {
    writer = ShardWriter.create(
        storage, UUID.randomUUID(), schema, options.withChecksum(Checksum.CRC32C));
  }

  /** Makes a writer of an index map: the new index for each old index, rising from 0. */
  public static IndexWriter ofMap(Storage storage, WriteOptions options) {
    return new IndexWriter(storage, IndexMap.SCHEMA, options);
  }

  /**
   * Makes a writer of a part of an order, for {@link StoredOrder}: the old index for each new
   * index, rising by 1.
   */
  public static IndexWriter ofOrder(Storage storage, WriteOptions options) {
    return new IndexWriter(storage, StoredOrder.SCHEMA, options);
  }

  /** Writes the next index. */
  public void put(long index) {
    writer.putLong(0, index);
    writer.endRecord();
  }

  /**
   * Writes all new indices of an arrangement, for a writer of a map.
   *
   * @param onBlock called before each block of indices; what it throws ends the writing
   */
  public void putAll(Arrangement arrangement, Runnable onBlock) {
    long[] block = new long[BLOCK];
    for (long old = 0; old < arrangement.length(); old += BLOCK) {
      onBlock.run();
      int count = (int) Math.min(BLOCK, arrangement.length() - old);
      arrangement.newIndices(old, block, count);
      for (int i = 0; i < count; i++) {
        put(block[i]);
      }
    }
  }

  /** Seals the shard, which then belongs to the caller; empty if there was no index. */
  public Optional<ShardSummary> finish() {
    return writer.finish();
  }

  /** Deletes what was written unless the shard was finished. */
  @Override
  public void close() {
    writer.close();
  }
}
