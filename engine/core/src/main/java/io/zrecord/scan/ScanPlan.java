package io.zrecord.scan;

import io.zrecord.read.IndexSet;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ShardSummary;
import io.zrecord.table.TableSnapshot;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * Divides a scan into splits from metadata alone. No file is opened, and the work is linear in the
 * shards and ranges of the scan. Splits are in index order and cover exactly the records asked for.
 */
public final class ScanPlan {
  private ScanPlan() {}

  /**
   * A part of one shard.
   *
   * @param firstIndex the shard's first index in the dataset
   * @param indices indices within the shard; not empty
   */
  public record ShardSlice(ShardSummary shard, long firstIndex, IndexSet indices)
      implements Serializable {}

  /**
   * The records that one task reads, in index order.
   *
   * @param recordCount records in all slices, > 0
   * @param bytes stored bytes of the fields asked for: exact for whole shards, in proportion inside
   */
  public record Split(List<ShardSlice> slices, long recordCount, long bytes)
      implements Serializable {
    public Split {
      slices = List.copyOf(slices);
    }
  }

  /**
   * Divides a scan of some fields of some records. Without fields, only the number of records
   * matters. Without records, there are no splits.
   */
  public static List<Split> divide(
      TableSnapshot snapshot, List<FieldSpec> fields, IndexSet indices, SplitSizing sizing) {
    IndexSet selected = indices.intersect(IndexSet.range(0, snapshot.length()));
    if (selected.isEmpty()) {
      return List.of();
    }
    snapshot.loadShards(selected);
    SplitCuts cuts = new SplitCuts(sizing);
    ShardCursor cursor = new ShardCursor(snapshot, selected);
    while (cursor.next()) {
      IndexSet local = cursor.localIndices();
      cuts.add(local.count(), new ShardWeight(cursor.shard(), fields).weight(local));
    }
    return assemble(snapshot, fields, selected, cuts.recordCounts());
  }

  /**
   * Estimates the stored bytes of the fields' values of the records in a set: exact for whole
   * shards, in proportion inside.
   */
  public static long estimateBytes(
      TableSnapshot snapshot, List<FieldSpec> fields, IndexSet indices) {
    ShardCursor cursor =
        new ShardCursor(snapshot, indices.intersect(IndexSet.range(0, snapshot.length())));
    long bytes = 0;
    while (cursor.next()) {
      bytes += new ShardWeight(cursor.shard(), fields).bytes(cursor.localIndices());
    }
    return bytes;
  }

  private static List<Split> assemble(
      TableSnapshot snapshot, List<FieldSpec> fields, IndexSet selected, long[] recordCounts) {
    List<Split> splits = new ArrayList<>(recordCounts.length);
    RangeCursor ranges = new RangeCursor(selected);
    for (long recordCount : recordCounts) {
      ShardCursor cursor = new ShardCursor(snapshot, ranges.take(recordCount));
      List<ShardSlice> slices = new ArrayList<>();
      long bytes = 0;
      while (cursor.next()) {
        IndexSet local = cursor.localIndices();
        slices.add(new ShardSlice(cursor.shard(), cursor.firstIndex(), local));
        bytes += new ShardWeight(cursor.shard(), fields).bytes(local);
      }
      splits.add(new Split(slices, recordCount, bytes));
    }
    return splits;
  }
}
