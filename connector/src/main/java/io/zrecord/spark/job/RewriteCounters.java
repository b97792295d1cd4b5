package io.zrecord.spark.job;

import io.zrecord.shard.ShardSummary;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.util.LongAccumulator;

/**
 * Counts the work of a rewrite's tasks, in accumulators that Spark shows. Only Spark itself can set
 * its own metrics of input and output.
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

  /** Returns the id of the accumulator of records. Each attempt counts its own records. */
  long recordsId() {
    return records.id();
  }

  /** Counts written records, and ends an attempt that was killed. */
  void countRecords(long count) {
    records.add(count);
    ShardAttempt.requireRunning();
  }

  /** Counts the bytes read for written shards. */
  void count(long readBytes, List<ShardSummary> written) {
    bytesRead.add(readBytes);
    bytesWritten.add(written.stream().mapToLong(ShardSummary::chunkBytes).sum());
  }
}
