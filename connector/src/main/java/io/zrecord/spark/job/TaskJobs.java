package io.zrecord.spark.job;

import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import java.io.Serializable;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.util.CollectionAccumulator;
import org.jspecify.annotations.Nullable;

/**
 * Runs jobs whose tasks write shards, and reports how the jobs ended. Lives on the driver.
 * Thread-safe.
 */
public final class TaskJobs {
  /**
   * Spark's message for a job that somebody cancelled. Spark has a named condition for it only
   * since 4.0.
   */
  private static final Pattern CANCELLED =
      Pattern.compile("(\\[SPARK_JOB_CANCELLED\\] )?Job [0-9]+ cancelled");

  private static final String DESCRIPTION = "spark.job.description";

  private final JavaSparkContext spark;
  private final Storage storage;
  private final String location;
  private final String operation;
  private final String consequence;

  /**
   * Creates the jobs of a table.
   *
   * @param operation the operation that the jobs are part of, in a word
   * @param consequence what is left if the operation is cut short
   */
  public TaskJobs(JavaSparkContext spark, Storage storage, String operation, String consequence) {
    this.spark = spark;
    this.storage = storage;
    this.location = storage.location();
    this.operation = operation;
    this.consequence = consequence;
  }

  /**
   * Writes what a message says, in a job of one task.
   *
   * @param description text that no other job of the operation has at the same time
   * @param recordCount number of records that the task counts until it is done
   * @param onRecords takes the number of records written since the last call
   */
  public List<ShardSummary> run(
      Serializable message,
      RewriteTask task,
      String description,
      long recordCount,
      LongConsumer onRecords) {
    TaskProgress progress = new TaskProgress(described(description), task.recordsId(), onRecords);
    Broadcast<byte[]> sent = spark.broadcast(ObjectBytes.of(message));
    spark.sc().addSparkListener(progress);
    try {
      List<ShardSummary> shards = run(() -> ofOneTask(spark, sent, task), description);
      progress.tell(recordCount);
      return shards;
    } finally {
      spark.sc().removeSparkListener(progress);
      if (!spark.sc().isStopped()) {
        sent.destroy();
      }
    }
  }

  /**
   * Returns the result of one task. The task fetches its message, which describes shards and may be
   * long: Spark bounds what it sends together with a task by {@code spark.rpc.message.maxSize}.
   */
  public static JavaRDD<byte[]> ofOneTask(
      JavaSparkContext spark, Broadcast<byte[]> message, Function<byte[], byte[]> task) {
    return spark.parallelize(List.of(new byte[0]), 1).map(nothing -> task.call(message.value()));
  }

  private String described(String description) {
    return operation + " " + location + ": " + description;
  }

  /**
   * Runs a job and waits for the end.
   *
   * @param results an {@link AttemptResult} from each task; planning them may already run jobs
   * @param description text for people who look at Spark's jobs
   * @return the shards of all tasks, in the order of the partitions
   * @throws io.zrecord.errors.ZRecordException if the shards cannot be written; a
   *     {@link GroupFailedException} if Spark gave up after {@code spark.task.maxFailures} attempts
   * @throws CancellationException if this thread was interrupted, the job cancelled, or Spark
   *     stopped
   */
  public List<ShardSummary> run(Supplier<JavaRDD<byte[]>> results, String description) {
    List<AttemptResult> ended = collect(results, description, this::discard).stream()
        .map(result -> ObjectBytes.read(result, AttemptResult.class))
        .toList();
    List<ShardSummary> shards =
        ended.stream().flatMap(result -> result.shards().stream()).toList();
    for (AttemptResult result : ended) {
      ZRecordException failure = result.failure();
      if (failure != null) {
        RecordTable.at(storage).discard(shards);
        throw failure;
      }
    }
    return shards;
  }

  /**
   * Runs a job and waits for the end, as {@link #run(Supplier, String)} does.
   *
   * @param results anything from each task
   * @param discard deletes what a task has written, given its result, if the job has failed
   * @return the results of all tasks, in the order of the partitions
   */
  public List<byte[]> collect(
      Supplier<JavaRDD<byte[]>> results, String description, Consumer<byte[]> discard) {
    String before = spark.sc().getLocalProperty(DESCRIPTION);
    spark.sc().setJobDescription(described(description));
    try {
      return collect(results, discard);
    } finally {
      spark.sc().setJobDescription(before);
    }
  }

  private List<byte[]> collect(Supplier<JavaRDD<byte[]>> results, Consumer<byte[]> discard) {
    CollectionAccumulator<byte[]> done = spark.sc().collectionAccumulator();
    // A tag leaves the caller's job group in place, so that the caller can still cancel the group.
    String tag = "zrecord-" + UUID.randomUUID();
    spark.sc().addJobTag(tag);
    try {
      return results
          .get()
          .map(result -> {
            done.add(result);
            return result;
          })
          .collectAsync()
          .get();
    } catch (Exception e) {
      if (!spark.sc().isStopped()) {
        spark.sc().cancelJobsWithTag(tag);
      }
      done.value().forEach(discard);
      throw failure(e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e);
    } finally {
      spark.sc().removeJobTag(tag);
    }
  }

  private void discard(byte[] result) {
    RecordTable.at(storage)
        .discard(ObjectBytes.read(result, AttemptResult.class).shards());
  }

  /**
   * Returns the problem of the table that ended a task, if Spark's exception has one as a cause. A
   * plain {@link StorageException} does not count: another attempt might have succeeded.
   */
  private static @Nullable ZRecordException foreseen(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof ZRecordException foreseen
          && cause.getClass() != StorageException.class) {
        return foreseen;
      }
    }
    return null;
  }

  /** Returns the exception to throw for an exception of Spark. */
  private RuntimeException failure(Throwable cause) {
    ZRecordException foreseen = foreseen(cause);
    if (foreseen != null) {
      return foreseen;
    }
    if (cause instanceof InterruptedException) {
      Thread.currentThread().interrupt();
      return cancelled("Interrupted in a " + operation + "; " + consequence, cause);
    }
    String reason = (cause.getMessage() == null ? cause.toString() : cause.getMessage())
        .lines()
        .findFirst()
        .orElse("");
    boolean isCancelled = CANCELLED.matcher(reason).lookingAt();
    return isCancelled || spark.sc().isStopped()
        ? cancelled(
            "The " + operation + " of " + location + " was cancelled, " + consequence + ": "
                + reason,
            cause)
        : new GroupFailedException(location, reason, cause);
  }

  private static RuntimeException cancelled(String message, Throwable cause) {
    RuntimeException cancelled = new CancellationException(message);
    cancelled.initCause(cause);
    return cancelled;
  }
}
