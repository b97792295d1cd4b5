package io.zrecord.spark.changes;

import io.zrecord.scan.ScanPlan;
import io.zrecord.scan.ScanPlan.ShardSlice;
import io.zrecord.storage.Storage;
import io.zrecord.table.TableSnapshot;
import java.util.List;

/**
 * Records that the driver has found.
 *
 * @param segments the records to read
 */
record PlannedPart(List<ChangeSegment> segments) implements ChangePart {
  PlannedPart {
    segments = List.copyOf(segments);
  }

  /**
   * Returns the records of a split.
   *
   * @param commit the version that the rows name
   */
  static PlannedPart of(ChangeType type, TableSnapshot commit, ScanPlan.Split split) {
    long micros = ChangeTasks.micros(commit.timestamp());
    return new PlannedPart(split.slices().stream()
        .map(slice -> new ChangeSegment(
            type,
            commit.version(),
            micros,
            // A task plans nothing, and sizes of thousands of fields would make it large.
            new ShardSlice(slice.shard().withoutSizes(), slice.firstIndex(), slice.indices())))
        .toList());
  }

  @Override
  public List<ChangeSegment> segments(Storage storage) {
    return segments;
  }
}
