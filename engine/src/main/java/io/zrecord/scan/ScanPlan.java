package io.zrecord.scan;

import io.zrecord.schema.FieldSpec;
import io.zrecord.table.ShardSummary;
import io.zrecord.table.TableSnapshot;
import java.io.Serializable;
import java.util.List;

/** SKELETON: divides a scan into splits; pure, opens no file. */
public final class ScanPlan {
  /** A part of one shard. {@code indices} are indices within the shard; {@code firstIndex} is the shard's first index in the dataset. */
  public record ShardSlice(ShardSummary shard, long firstIndex, IndexSet indices)
      implements Serializable {}

  /** What one task reads, in index order. */
  public record Split(List<ShardSlice> slices, long recordCount, long bytes)
      implements Serializable {}

  /** How to divide. {@code splitCount} 0 = automatic: splits of targetBytes (1 to 128 MiB), at least {@code minimumSplits}. */
  public record Sizing(int splitCount, int minimumSplits, long minSplitBytes, long maxSplitBytes) {}

  public static List<Split> divide(
      TableSnapshot snapshot, List<FieldSpec> fields, IndexSet indices, Sizing sizing) {
    throw new UnsupportedOperationException();
  }

  /** Stored bytes of the fields' values of the records in the set: exact for whole shards, in proportion inside. */
  public static long estimateBytes(
      TableSnapshot snapshot, List<FieldSpec> fields, IndexSet indices) {
    throw new UnsupportedOperationException();
  }
}
