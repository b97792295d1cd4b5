package io.zrecord.spark.changes;

import io.zrecord.scan.ScanPlan.ShardSlice;
import java.io.Serializable;

/**
 * Records of one shard of which rows say the same.
 *
 * @param micros time of the commit, in microseconds since 1970
 */
record ChangeSegment(ChangeType type, long version, long micros, ShardSlice slice)
    implements Serializable {}
