package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import io.zrecord.scan.ScanPlan;
import io.zrecord.spark.path.TableLocation;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * The part of a scan that one task reads. The readers have the fields to read, which travel once
 * for all tasks.
 *
 * @param location location of the dataset
 * @param dataset ordinal of the dataset, if several datasets are read
 * @param firstIndex index of the dataset's first record, if several datasets are read
 * @param slices parts of shards, in index order, without sizes
 * @param versions the version that each slice is of
 */
public record ZRecordInputPartition(
    TableLocation location,
    int dataset,
    long firstIndex,
    List<ScanPlan.ShardSlice> slices,
    List<Long> versions)
    implements InputPartition {

  /** Creates a part of one version. */
  public ZRecordInputPartition(
      TableLocation location,
      int dataset,
      long firstIndex,
      List<ScanPlan.ShardSlice> slices,
      long version) {
    this(location, dataset, firstIndex, slices, Collections.nCopies(slices.size(), version));
  }

  /** Returns a part with other slices of the version that all slices of this part are of. */
  ZRecordInputPartition of(List<ScanPlan.ShardSlice> others) {
    return new ZRecordInputPartition(location, dataset, firstIndex, others, versions.get(0));
  }

  /** Returns what some places of the scan leave of this part; empty if they leave nothing. */
  Optional<ZRecordInputPartition> within(IndexSet places) {
    List<ScanPlan.ShardSlice> left = new ArrayList<>();
    for (ScanPlan.ShardSlice slice : slices) {
      IndexSet indices = slice.indices();
      long first = firstIndex + slice.firstIndex();
      long end = first + indices.rangeTo(indices.rangeCount() - 1);
      IndexSet kept = places.intersect(IndexSet.range(first, end)).shift(-first).intersect(indices);
      if (!kept.isEmpty()) {
        left.add(new ScanPlan.ShardSlice(slice.shard(), slice.firstIndex(), kept));
      }
    }
    return left.isEmpty() ? Optional.empty() : Optional.of(of(left));
  }
}
