package io.zrecord.spark.scan;

import io.zrecord.scan.ScanPlan.ShardSlice;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;

/** Joins partitions of a scan until no shard is in two of them. Stateless. */
final class WholeShards {
  private WholeShards() {}

  /** @param partitions parts of shards, in the order of the index */
  static List<InputPartition> of(List<InputPartition> partitions) {
    List<InputPartition> whole = new ArrayList<>();
    List<ShardSlice> slices = new ArrayList<>();
    ZRecordInputPartition last = null;
    for (InputPartition partition : partitions) {
      ZRecordInputPartition part = (ZRecordInputPartition) partition;
      if (last != null && !isOfSameShard(last, part)) {
        whole.add(joined(last, slices));
        slices.clear();
      }
      slices.addAll(part.slices());
      last = part;
    }
    if (last != null) {
      whole.add(joined(last, slices));
    }
    return whole;
  }

  private static boolean isOfSameShard(ZRecordInputPartition one, ZRecordInputPartition next) {
    ShardSlice last = one.slices().get(one.slices().size() - 1);
    return one.dataset() == next.dataset()
        && last.firstIndex() == next.slices().get(0).firstIndex();
  }

  private static InputPartition joined(ZRecordInputPartition like, List<ShardSlice> slices) {
    return like.of(List.copyOf(slices));
  }
}
