package io.zrecord.spark;

import io.zrecord.spark.job.SweepTasks;
import io.zrecord.spark.path.SparkStorages;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.SweepOptions;
import io.zrecord.table.SweepResult;
import org.apache.spark.sql.SparkSession;

/**
 * Finds or deletes the files of a table that no version names, with Spark. The driver reads which
 * files the versions name, and tasks look into the directories of shards and delete files. A table
 * with few directories is swept by the driver alone. For one run.
 *
 * <pre>{@code
 * SweepResult result = Sweep.of(spark, "/data/train").options(SweepOptions.defaults().withMode(CareMode.DELETE)).run();
 * }</pre>
 *
 * <p>On HDFS and stores of objects the driver lists the directories, and tasks delete files. A run
 * that ends early has deleted some of the files; another run continues. To end a run, interrupt its
 * thread or cancel its Spark jobs. On the command line:
 *
 * <pre>{@code
 * spark-submit --class io.zrecord.spark.Sweep zrecord-spark.jar --help
 * }</pre>
 */
public final class Sweep {
  private final SparkSession spark;
  private final Storage table;
  private SweepOptions options = SweepOptions.defaults();

  private Sweep(SparkSession spark, Storage table) {
    this.spark = spark;
    this.table = table;
  }

  /**
   * Returns a sweep of a table, which deletes nothing by default.
   *
   * @param path path of the table, as in {@code load}
   */
  public static Sweep of(SparkSession spark, String path) {
    return new Sweep(spark, SparkStorages.storageFor(path));
  }

  /** Sets which files are swept, and whether they are deleted. */
  public Sweep options(SweepOptions wanted) {
    options = wanted;
    return this;
  }

  /**
   * Runs the sweep.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no table
   * @throws io.zrecord.errors.StorageException if it is unknown what is still needed, and nothing
   *     was deleted, or if a file could not be deleted
   * @throws java.util.concurrent.CancellationException if this thread was interrupted, the job
   *     cancelled, or Spark stopped
   */
  public SweepResult run() {
    return RecordTable.at(table).sweep(options, new SweepTasks(spark, table), orphan -> {});
  }

  /** Runs the command for {@code spark-submit}; {@code --help} prints its arguments. */
  public static void main(String[] args) {
    SubmittedCommand.run(new SweepJob(), args);
  }
}
