package io.zrecord.spark.changes;

import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.ShardChanges;
import io.zrecord.read.IndexSet;
import io.zrecord.scan.ScanPlan.ShardSlice;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a version changed in one shard, which the task finds out.
 *
 * @param micros time of the commit, in microseconds since 1970
 * @param movedBefore indices in the version before of records that were moved to another shard
 * @param movedAfter indices in the version of records that were moved from another shard
 */
record ShardPart(ShardChanges changes, long micros, IndexSet movedBefore, IndexSet movedAfter)
    implements ChangePart {

  @Override
  public List<ChangeSegment> segments(Storage storage) {
    RecordChanges records = changes.read(storage);
    List<ChangeSegment> segments = new ArrayList<>();
    before(segments, ChangeType.DELETE, records.deleted().minus(movedBefore));
    before(
        segments,
        ChangeType.UPDATE_PREIMAGE,
        records.changedBefore().union(records.deleted().intersect(movedBefore)));
    after(
        segments,
        ChangeType.UPDATE_POSTIMAGE,
        records.changedAfter().union(records.inserted().intersect(movedAfter)));
    after(segments, ChangeType.INSERT, records.inserted().minus(movedAfter));
    return segments;
  }

  private void before(List<ChangeSegment> segments, ChangeType type, IndexSet indices) {
    add(segments, type, indices, changes.before(), changes.firstBefore());
  }

  private void after(List<ChangeSegment> segments, ChangeType type, IndexSet indices) {
    add(segments, type, indices, changes.after(), changes.firstAfter());
  }

  private void add(
      List<ChangeSegment> segments,
      ChangeType type,
      IndexSet indices,
      @Nullable ShardSummary shard,
      long first) {
    if (shard != null && !indices.isEmpty()) {
      segments.add(new ChangeSegment(
          type, changes.version(), micros, new ShardSlice(shard, first, indices.shift(-first))));
    }
  }
}
