package io.zrecord.spark.stream;

import io.zrecord.changes.VersionChanges;
import io.zrecord.read.IndexSet;
import io.zrecord.scan.ScanPlan;
import io.zrecord.schema.FieldSpec;
import io.zrecord.table.TableSnapshot;
import java.util.List;

/**
 * What is left of the limits of a batch while records are put into the batch, shard by shard. Opens
 * no file but lists of shards. For one thread.
 */
final class BatchBudget {
  private final List<FieldSpec> fields;
  private final boolean countsRecords;
  private final boolean countsShards;
  private final boolean countsBytes;
  private long records;
  private long bytes;
  private long shards;
  private long versions;
  private long taken;

  /**
   * Begins a batch.
   *
   * @param fields the fields whose bytes count
   */
  BatchBudget(TriggerLimits limits, List<FieldSpec> fields) {
    this.fields = fields;
    this.countsRecords = limits.records().isPresent();
    this.countsShards = limits.shards().isPresent();
    this.countsBytes = limits.bytes().isPresent();
    this.records = limits.records().orElse(Long.MAX_VALUE);
    this.bytes = limits.bytes().orElse(Long.MAX_VALUE);
    this.shards = limits.shards().orElse(Long.MAX_VALUE);
    this.versions = limits.versions().orElse(Long.MAX_VALUE);
  }

  /** Tells whether no record fits any more. */
  boolean isSpent() {
    return records == 0 || shards == 0 || bytes == 0 || versions == 0;
  }

  /** Takes as many records from a position on as fit; returns how many. */
  long take(VersionRecords version, long from) {
    VersionChanges changes = version.changes();
    long some = changes == null ? takeRecords(version, from) : takeAll(version, changes);
    if (some > 0) {
      versions--;
    }
    return some;
  }

  /** Takes what a version changed as a whole, if it fits or is the first of the batch. */
  private long takeAll(VersionRecords version, VersionChanges changes) {
    long rows = countsRecords ? version.changedRows() : 1;
    long changed = changes.shards().size();
    if (taken > 0 && (rows > records || changed > shards)) {
      return 0;
    }
    records = Math.max(0, records - rows);
    shards = Math.max(0, shards - changed);
    taken += Math.max(1, rows);
    return 1;
  }

  private long takeRecords(VersionRecords version, long from) {
    IndexSet left = version.between(from, version.count());
    if (!countsShards && !countsBytes) {
      long some = Math.min(records, left.count());
      records -= some;
      taken += some;
      return some;
    }
    long before = taken;
    TableSnapshot snapshot = version.version();
    for (int range = 0; range < left.rangeCount(); range++) {
      long first = left.rangeFrom(range);
      while (first < left.rangeTo(range)) {
        long end = Math.min(left.rangeTo(range), snapshot.firstIndex(snapshot.shardOf(first) + 1));
        long some = isSpent() ? 0 : takeOfShard(snapshot, first, end);
        first += some;
        if (first < end) {
          return taken - before;
        }
      }
    }
    return taken - before;
  }

  private long takeOfShard(TableSnapshot snapshot, long first, long end) {
    long some = Math.min(records, end - first);
    if (countsBytes) {
      long stored = ScanPlan.estimateBytes(snapshot, fields, IndexSet.range(first, end));
      double ofRecord = (double) stored / (end - first);
      if (some * ofRecord > bytes) {
        some = Math.min(some, (long) (bytes / ofRecord));
        if (some == 0 && taken == 0) {
          some = 1;
        }
        bytes = 0;
      } else {
        bytes -= (long) (some * ofRecord);
      }
    }
    if (some > 0) {
      shards--;
    }
    records -= some;
    taken += some;
    return some;
  }
}
