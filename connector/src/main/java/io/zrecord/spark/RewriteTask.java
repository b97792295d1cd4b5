package io.zrecord.spark;

import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.rebalance.GroupRewriter;
import io.zrecord.rebalance.RebalanceGroup;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.List;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.util.LongAccumulator;
import org.apache.spark.util.TaskCompletionListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rewrites a group of shards in a task, from its bytes to those of a {@link RewrittenGroup}. Each attempt names its shards anew, and
 * deletes them if it fails or is killed. It counts in accumulators: Spark's own metrics of input and output can be set by Spark only. What an attempt leaves that ends as another one wins is named by no version; a sweep removes it.
 */
final class RewriteTask implements Function<byte[], byte[]> {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(RewriteTask.class);

  private final String location;
  private final RecordSchema schema;
  private final RebalanceOptions options;
  private final LongAccumulator records;
  private final LongAccumulator bytesRead;
  private final LongAccumulator bytesWritten;

  /** The tasks of a plan; what they did is added up in accumulators that Spark shows. */
  RewriteTask(RebalancePlan plan, SparkContext spark) {
    location = plan.snapshot().storage().location();
    schema = plan.schema();
    options = plan.options();
    records = spark.longAccumulator("zrecord records rewritten");
    bytesRead = spark.longAccumulator("zrecord bytes read from chunks");
    bytesWritten = spark.longAccumulator("zrecord bytes written to chunks");
  }

  /** Id of the accumulator of records, of which an attempt counts its own. */
  long recordsId() {
    return records.id();
  }

  @Override
  public byte[] call(byte[] message) {
    RebalanceGroup group = ObjectBytes.read(message, RebalanceGroup.class);
    try {
      return ObjectBytes.of(new RewrittenGroup(rewrite(group, TaskContext.get()), null));
    } catch (ZRecordException e) {
      if (e.getClass() == StorageException.class) {
        throw e; // Another attempt, perhaps on another machine, may have more luck.
      }
      return ObjectBytes.of(new RewrittenGroup(List.of(), String.valueOf(e.getMessage())));
    }
  }

  private List<ShardSummary> rewrite(RebalanceGroup group, TaskContext task) {
    Storage storage = SparkStorages.storageFor(location);
    List<ShardSummary> shards;
    try (GroupRewriter rewriter =
        new GroupRewriter(storage, schema, options, count -> proceed(task, count))) {
      shards = rewriter.rewrite(group);
    }
    bytesRead.add(group.chunkBytes());
    bytesWritten.add(shards.stream().mapToLong(ShardSummary::chunkBytes).sum());
    // Whether the attempt was killed is known at its end only; if so, its result is not used.
    TaskCompletionListener end = done -> {
      if (done.isInterrupted() || done.isFailed()) {
        shards.forEach(shard -> delete(storage, shard));
      }
    };
    task.addTaskCompletionListener(end);
    return shards;
  }

  private void proceed(TaskContext task, long count) {
    records.add(count);
    if (task.isInterrupted()) {
      throw new TaskKilledException("another attempt won, or the job was cancelled");
    }
  }

  private static void delete(Storage storage, ShardSummary shard) {
    try {
      storage.delete(shard.directory());
    } catch (ZRecordException e) {
      LOG.warn("Cannot delete shard {}, which no version names", shard.id(), e);
    }
  }
}
