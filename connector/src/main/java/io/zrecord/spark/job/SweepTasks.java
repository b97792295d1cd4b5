package io.zrecord.spark.job;

import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import io.zrecord.table.SweepPart;
import io.zrecord.table.SweepWorkers;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.sql.SparkSession;

/**
 * Sweeps a table in tasks: each looks into some directories, or deletes some files. What one task
 * would do, the driver does itself. A task that fails is tried again by Spark; both kinds may be
 * done twice. Lives on the driver.
 */
public final class SweepTasks implements SweepWorkers {
  private static final int MAX_TASKS = 10_000;

  /** Files that one task deletes. A store of objects takes as many with one request. */
  private static final int FILES_OF_TASK = 1000;

  /** Files that one job deletes, before the driver looks at all versions again. */
  private static final int FILES_OF_JOB = 1_000_000;

  private final JavaSparkContext spark;
  private final Storage storage;
  private final TaskJobs jobs;

  public SweepTasks(SparkSession spark, Storage storage) {
    this.spark = JavaSparkContext.fromSparkContext(spark.sparkContext());
    this.storage = storage;
    this.jobs = new TaskJobs(this.spark, storage, "sweep", "sweep again to delete the rest");
  }

  @Override
  public void look(Iterator<SweepPart> parts, Consumer<SweepPart.Looked> looked) {
    List<byte[]> messages = new ArrayList<>();
    parts.forEachRemaining(part -> messages.add(ObjectBytes.of(part)));
    if (messages.size() <= 1) {
      messages.forEach(
          message -> looked.accept(ObjectBytes.read(message, SweepPart.class).look(storage)));
      return;
    }
    TableLocation table = TableLocation.of(storage);
    run(
            messages,
            message -> ObjectBytes.of(
                ObjectBytes.read(message, SweepPart.class).look(table.storage())),
            "look into the directories of shards")
        .forEach(seen -> looked.accept(ObjectBytes.read(seen, SweepPart.Looked.class)));
  }

  @Override
  public void delete(List<String> names) {
    if (names.size() <= FILES_OF_TASK) {
      storage.deleteAll(names);
      return;
    }
    List<byte[]> messages = IntStream.range(0, (names.size() + FILES_OF_TASK - 1) / FILES_OF_TASK)
        .mapToObj(task -> ObjectBytes.of(new ArrayList<>(names.subList(
            task * FILES_OF_TASK, Math.min(names.size(), (task + 1) * FILES_OF_TASK)))))
        .toList();
    TableLocation table = TableLocation.of(storage);
    run(messages, message -> deleted(table, message), "delete " + names.size() + " files");
  }

  private static byte[] deleted(TableLocation table, byte[] message) {
    List<?> names = ObjectBytes.read(message, ArrayList.class);
    table.storage().deleteAll(names.stream().map(String.class::cast).toList());
    return new byte[0];
  }

  private List<byte[]> run(
      List<byte[]> messages, Function<byte[], byte[]> task, String description) {
    int tasks = Math.min(MAX_TASKS, messages.size());
    return jobs.collect(
        () -> spark.parallelize(messages, tasks).map(task), description, result -> {});
  }

  @Override
  public int deletedAtOnce() {
    return FILES_OF_JOB;
  }
}
