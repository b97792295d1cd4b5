package io.zrecord.table;

import io.zrecord.scan.IndexSet;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ShardSummary;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * Divides a scan into splits from the metadata alone: no file is opened, and the work is linear in the shards and ranges that
 * the scan touches. Splits are in index order and cover exactly the records asked for.
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
   * What one task reads, in index order.
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
   * How to divide.
   *
   * @param splitCount exactly so many splits (fewer if there are fewer records), equal in bytes; 0: splits along the boundaries
   *     of chunks, as the other parameters say
   * @param minimumSplits at least so many splits, unless they would be smaller than {@code minSplitBytes}
   * @param minSplitBytes smaller neighbours are packed together
   * @param maxSplitBytes bigger chunks are divided evenly by records; at least {@code minSplitBytes}
   */
  public record Sizing(int splitCount, int minimumSplits, long minSplitBytes, long maxSplitBytes) {
    private static final long MIB = 1 << 20;

    public Sizing {
      if (splitCount < 0
          || minimumSplits < 0
          || minSplitBytes < 1
          || maxSplitBytes < minSplitBytes) {
        throw new IllegalArgumentException(
            "Cannot divide a scan into splitCount " + splitCount + ", minimumSplits "
                + minimumSplits + ", minSplitBytes " + minSplitBytes + ", maxSplitBytes "
                + maxSplitBytes
                + ": counts are >= 0 and 1 <= minSplitBytes <= maxSplitBytes");
      }
    }

    /** Splits of 1 to 128 MiB. */
    public static Sizing atLeast(int minimumSplits) {
      return new Sizing(0, minimumSplits, MIB, 128 * MIB);
    }

    /** Exactly so many splits, > 0. */
    public static Sizing exactly(int splitCount) {
      return new Sizing(splitCount, 0, MIB, 128 * MIB);
    }
  }

  /** The splits of a scan of some fields (none: only their number matters) of some records; no record, no split. */
  public static List<Split> divide(
      TableSnapshot snapshot, List<FieldSpec> fields, IndexSet indices, Sizing sizing) {
    IndexSet selected = indices.intersect(IndexSet.range(0, snapshot.length()));
    if (selected.isEmpty()) {
      return List.of();
    }
    SplitCuts cuts = new SplitCuts(sizing);
    ShardCursor cursor = new ShardCursor(snapshot, selected);
    while (cursor.next()) {
      new ChunkWeights(cursor.shard(), fields).forEachChunk(cursor.localIndices(), cuts::add);
    }
    return assemble(snapshot, fields, selected, cuts.recordCounts());
  }

  /** Stored bytes of the fields' values of the records in the set: exact for whole shards, in proportion inside. */
  public static long estimateBytes(
      TableSnapshot snapshot, List<FieldSpec> fields, IndexSet indices) {
    ShardCursor cursor =
        new ShardCursor(snapshot, indices.intersect(IndexSet.range(0, snapshot.length())));
    long bytes = 0;
    while (cursor.next()) {
      bytes += new ChunkWeights(cursor.shard(), fields).bytes(cursor.localIndices());
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
        bytes += new ChunkWeights(cursor.shard(), fields).bytes(local);
      }
      splits.add(new Split(slices, recordCount, bytes));
    }
    return splits;
  }
}
