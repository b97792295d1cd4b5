package io.zrecord.spark.job;

import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;
import org.apache.spark.util.TaskCompletionListener;

/**
 * An attempt of a task to write shards. Each attempt gives its shards new names, and deletes the
 * shards if the attempt fails or is killed. If an attempt ends without deleting while another
 * attempt wins, no version names its shards; a sweep removes them.
 */
final class ShardAttempt {
  private ShardAttempt() {}

  /**
   * Writes shards in a task.
   *
   * @param location location of the table
   * @param writing writes the shards; must leave nothing if it fails
   * @return an {@link AttemptResult}
   * @throws StorageException if another attempt, perhaps on another machine, may have more luck
   */
  static byte[] run(TableLocation location, Function<Storage, List<ShardSummary>> writing) {
    try {
      return ObjectBytes.of(new AttemptResult(write(location, writing), null));
    } catch (ZRecordException e) {
      if (e.getClass() == StorageException.class) {
        throw e;
      }
      return ObjectBytes.of(new AttemptResult(List.of(), e));
    }
  }

  private static List<ShardSummary> write(
      TableLocation location, Function<Storage, List<ShardSummary>> writing) {
    Storage storage = location.storage();
    List<ShardSummary> shards = writing.apply(storage);
    // Only the end of the attempt shows whether it was killed; if so, its result is not used.
    TaskCompletionListener end = done -> {
      if (done.isInterrupted() || done.isFailed()) {
        RecordTable.at(storage).discard(shards);
      }
    };
    TaskContext.get().addTaskCompletionListener(end);
    return shards;
  }

  /** Ends an attempt that was killed. Call this now and then. */
  static void requireRunning() {
    if (TaskContext.get().isInterrupted()) {
      throw new TaskKilledException("another attempt won, or the job was cancelled");
    }
  }
}
