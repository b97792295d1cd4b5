package io.zrecord.spark.job;

import io.zrecord.errors.StorageException;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import io.zrecord.table.SweepPart;
import io.zrecord.table.SweepWorkers;
import io.zrecord.table.SweptFiles;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.sql.SparkSession;

/**
 * Sweeps a table in tasks: each looks into some directories, or deletes some files. What one task
 * would do, the driver does itself. A task that fails is tried again by Spark; both kinds may be
 * done twice. A worker that does not see the table ends the sweep. Lives on the driver.
 */
public final class SweepTasks implements SweepWorkers {
  /** Parts that one job looks at, each in a task. */
  private static final int PARTS_OF_JOB = 500;

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
    while (parts.hasNext()) {
      SweepPart first = parts.next();
      if (!parts.hasNext()) {
        looked.accept(first.look(storage));
        return;
      }
      List<byte[]> messages = new ArrayList<>();
      messages.add(ObjectBytes.of(first));
      while (parts.hasNext() && messages.size() < PARTS_OF_JOB) {
        messages.add(ObjectBytes.of(parts.next()));
      }
      TableLocation table = TableLocation.of(storage);
      run(
              messages,
              message ->
                  ObjectBytes.of(ObjectBytes.read(message, SweepPart.class).look(table.storage())),
              "look into the directories of shards")
          .forEach(seen -> looked.accept(ObjectBytes.read(seen, SweepPart.Looked.class)));
    }
  }

  @Override
  public void delete(SweptFiles files) {
    List<SweptFiles> parts = files.parts(FILES_OF_TASK);
    if (parts.size() <= 1) {
      files.delete(storage);
      return;
    }
    TableLocation table = TableLocation.of(storage);
    run(
        parts.stream().map(ObjectBytes::of).toList(),
        message -> {
          ObjectBytes.read(message, SweptFiles.class).delete(table.storage());
          return new byte[0];
        },
        "delete " + files.count() + " files");
  }

  private List<byte[]> run(
      List<byte[]> messages, Function<byte[], byte[]> task, String description) {
    try {
      return jobs.collect(
          () -> spark.parallelize(messages, messages.size()).map(task), description, result -> {});
    } catch (GroupFailedException e) {
      throw new StorageException(
          storage.location(), "Cannot " + description + ": " + e.getMessage(), e);
    }
  }

  @Override
  public int deletedAtOnce() {
    return FILES_OF_JOB;
  }
}
