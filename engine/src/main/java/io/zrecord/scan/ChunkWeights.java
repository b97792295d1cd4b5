package io.zrecord.scan;

import io.zrecord.read.IndexSet;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ChunkSummary;
import io.zrecord.shard.ShardSummary;
import java.util.List;

/**
 * The cost of one shard's records in a scan of some fields. The stored bytes of the fields are
 * known for the shard only. The weights spread these bytes over the chunks in proportion to the
 * chunks' bytes, and within a chunk evenly over its records.
 */
final class ChunkWeights {

  /** Takes the selected records of one chunk. */
  interface Visitor {
    /**
     * Takes the selected records of the next chunk.
     *
     * @param recordCount > 0
     * @param weight bytes, at least one a record, so that a scan that needs no bytes is divided too
     */
    void chunk(long recordCount, double weight);
  }

  private final ShardSummary shard;
  private final List<ChunkSummary> chunks;
  private final long shardBytes;
  private final double chunkBytes;

  ChunkWeights(ShardSummary shard, List<FieldSpec> fields) {
    this.shard = shard;
    long bytes = 0;
    for (FieldSpec field : fields) {
      bytes += shard.valueBytes().getOrDefault(field.id(), 0L);
    }
    this.shardBytes = bytes;
    long records = 0;
    long sum = 0;
    for (ChunkSummary chunk : shard.chunks()) {
      records += chunk.recordCount();
      sum += chunk.lengthBytes();
    }
    boolean chunksAreIndexRanges = records == shard.length() && sum > 0;
    this.chunks =
        chunksAreIndexRanges ? shard.chunks() : List.of(new ChunkSummary(shard.length(), 1));
    this.chunkBytes = chunksAreIndexRanges ? sum : 1;
  }

  /** Returns the stored bytes of the records: exact for the whole shard. */
  long bytes(IndexSet local) {
    if (local.count() == shard.length()) {
      return shardBytes;
    }
    double[] sum = new double[1];
    forEachChunk(local, shardBytes, (records, weight) -> sum[0] += weight);
    return Math.round(sum[0]);
  }

  /** Visits the chunks that hold a selected record, in index order. */
  void forEachChunk(IndexSet local, Visitor visitor) {
    forEachChunk(local, Math.max(shardBytes, shard.length()), visitor);
  }

  private void forEachChunk(IndexSet local, long weightOfShard, Visitor visitor) {
    RangeCursor ranges = new RangeCursor(local);
    long end = 0;
    for (ChunkSummary chunk : chunks) {
      end += chunk.recordCount();
      if (ranges.isAtEnd()) {
        return;
      }
      if (ranges.next() >= end) {
        continue;
      }
      long selected = ranges.countBelow(end);
      double share = chunk.lengthBytes() / chunkBytes * ((double) selected / chunk.recordCount());
      visitor.chunk(selected, weightOfShard * share);
    }
  }
}
