package io.zrecord.spark;

import io.zrecord.findings.CheckSummary;
import io.zrecord.spark.job.VerifyRun;
import io.zrecord.spark.path.SparkStorages;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.verify.DatasetCheck;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Checks every checksum of a table, and every other rule of its format, with Spark. The driver
 * reads the manifests, and a task checks each shard. Damaged, cut and missing files are findings,
 * and no task fails because of them. A task fails if a file cannot be read for another reason:
 * permissions, limits of the system, a later format. Nothing is changed.
 *
 * <pre>{@code
 * Verify.of(spark, "/data/train").badValues().show();
 * }</pre>
 *
 * <p>The driver keeps some kilobytes for each shard. If a version is expired and swept meanwhile,
 * its shards do not count as missing. Immutable. On the command line:
 *
 * <pre>{@code
 * spark-submit --class io.zrecord.spark.Verify zrecord-spark.jar --help
 * }</pre>
 */
public final class Verify {
  private final SparkSession spark;
  private final String path;
  private final Storage table;
  private final DatasetCheck check;

  private Verify(SparkSession spark, String path, Storage table, DatasetCheck check) {
    this.spark = spark;
    this.path = path;
    this.table = table;
    this.check = check;
  }

  /**
   * Returns a check of the values of a table's newest version, and of the files of all versions.
   *
   * @param path path of the table, as in {@code load}
   */
  public static Verify of(SparkSession spark, String path) {
    Storage table = SparkStorages.storageFor(path);
    return new Verify(spark, path, table, DatasetCheck.of(table));
  }

  /** Returns a check of the values of another version. */
  public Verify version(long version) {
    return new Verify(spark, path, table, check.version(version));
  }

  /**
   * Returns a check of the values of the version that a tag names.
   *
   * @throws io.zrecord.errors.VersionNotFoundException if there is no such tag
   */
  public Verify tag(String tag) {
    return version(RecordTable.at(table).tagged(tag).version());
  }

  /** Returns a check of the values of all versions, each value once. */
  public Verify allVersions() {
    return new Verify(spark, path, table, check.allVersions());
  }

  /**
   * Runs the check.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no dataset
   * @throws io.zrecord.errors.VersionNotFoundException if the table does not have the version
   * @throws IllegalArgumentException if the dataset is not a table
   */
  public CheckSummary run() {
    return begin().run().summary();
  }

  /** Begins a check that gives its summary and its bad values of the same versions. */
  VerifyRun begin() {
    return new VerifyRun(spark, table, check, VerifyRun.MAX_TOLD);
  }

  /**
   * Returns everything that is found, whether damage or not. Checks manifests now, and shards
   * whenever the rows are asked for. Columns:
   *
   * <ul>
   *   <li>{@code shard} string, its id; null: about a manifest, a tag or another file of the table
   *   <li>{@code field} string; null: not about a field
   *   <li>{@code index} bigint, of the first record concerned; null: not about certain records
   *   <li>{@code count} bigint, records concerned, from {@code index} on
   *   <li>{@code file} string, full path
   *   <li>{@code offset}, {@code length} bigint, the bytes of the damaged value in {@code file};
   *       null: not about a value
   *   <li>{@code kind} string, as {@link io.zrecord.findings.Finding.Kind} in lower case
   *   <li>{@code damage} boolean, false if it is only worth knowing
   *   <li>{@code reason} string, what is wrong, with which values
   * </ul>
   *
   * <p>Of a shard with more than 100,000 findings, only the first 100,000 become rows. {@link #run}
   * counts the others too, so {@link CheckSummary#damageCount} is greater than the number of rows.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no dataset
   */
  public Dataset<Row> findings() {
    return new VerifyRun(spark, table, check, Integer.MAX_VALUE).findings();
  }

  /**
   * Returns the {@link #findings} by which values of certain records cannot be read, with the same
   * limit.
   */
  public Dataset<Row> badValues() {
    return begin().badValues();
  }

  /** Runs the command for {@code spark-submit}; {@code --help} prints its arguments. */
  public static void main(String[] args) {
    SubmittedCommand.run(new VerifyJob(), args);
  }
}
