package io.zrecord.spark.job;

import io.zrecord.shard.ShardSummary;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.util.LongAccumulator;

/**
 * What the tasks of a rewrite did, added up in accumulators that Spark shows; its own metrics of
 * input and output can be set by it only.
 */
final class RewriteCounters implements Serializable {
  private static final long serialVersionUID = 1L;

  private final LongAccumulator records;
  private final LongAccumulator bytesRead;
  private final LongAccumulator bytesWritten;

  RewriteCounters(SparkContext spark) {
    records = spark.longAccumulator("zrecord records rewritten");
    bytesRead = spark.longAccumulator("zrecord bytes read from chunks");
    bytesWritten = spark.longAccumulator("zrecord bytes written to chunks");
  }

  /** Id of the accumulator of records, of which an attempt counts its own. */
  long recordsId() {
    return records.id();
  }

  /** Counts records that are written, and ends an attempt that was killed. */
  void countRecords(long count) {
    records.add(count);
    ShardAttempt.requireRunning();
  }

  /** Counts what was read for shards that are written. */
  void count(long readBytes, List<ShardSummary> written) {
    bytesRead.add(readBytes);
    bytesWritten.add(written.stream().mapToLong(ShardSummary::chunkBytes).sum());
  }
}
