package io.zrecord.spark;

import io.zrecord.spark.job.VerifyRun;
import io.zrecord.spark.path.SparkStorages;
import io.zrecord.table.RecordTable;
import io.zrecord.verify.CheckSummary;
import io.zrecord.verify.DatasetCheck;
import java.nio.file.Path;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Checks every checksum of a table, and whatever its format says must hold, with Spark: the driver
 * reads the manifests, and a task checks a shard. Files that are damaged, cut or missing are
 * findings; no task fails by them, but by what keeps files from being read: permissions, limits of
 * the system, a later format. Nothing is changed.
 *
 * <pre>{@code
 * Verify.of(spark, "/data/train").badValues().show();
 * }</pre>
 *
 * <p>The driver keeps some kilobytes for each shard. A shard of a version that is expired and swept
 * meanwhile is not missed. Immutable. From the command line it is
 *
 * <pre>{@code
 * spark-submit --class io.zrecord.spark.Verify zrecord-spark.jar --help
 * }</pre>
 */
public final class Verify {
  private final SparkSession spark;
  private final String path;
  private final DatasetCheck check;

  private Verify(SparkSession spark, String path, DatasetCheck check) {
    this.spark = spark;
    this.path = path;
    this.check = check;
  }

  /**
   * A check of the values of a table's newest version, and of the files of all versions.
   *
   * @param path as in {@code load}
   */
  public static Verify of(SparkSession spark, String path) {
    Path directory = Path.of(SparkStorages.storageFor(path).location());
    return new Verify(spark, path, DatasetCheck.of(directory));
  }

  /** A check of the values of another version. */
  public Verify version(long version) {
    return new Verify(spark, path, check.version(version));
  }

  /**
   * A check of the values of the version that a tag names.
   *
   * @throws io.zrecord.errors.VersionNotFoundException if there is no such tag
   */
  public Verify tag(String tag) {
    return version(RecordTable.at(SparkStorages.storageFor(path)).tagged(tag).version());
  }

  /** A check of the values of all versions, each value once. */
  public Verify allVersions() {
    return new Verify(spark, path, check.allVersions());
  }

  /**
   * Checks.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no dataset
   * @throws io.zrecord.errors.VersionNotFoundException if the table does not have the version
   * @throws IllegalArgumentException if it is a dataset of another kind than a table
   */
  public CheckSummary run() {
    return begin().run().summary();
  }

  /**
   * A check that can be asked for its summary and for its bad values, both of the same versions.
   */
  VerifyRun begin() {
    return new VerifyRun(spark, check, VerifyRun.MAX_TOLD);
  }

  /**
   * All that is found, damage or not. Manifests are checked now, shards whenever the rows are asked
   * for. Columns:
   *
   * <ul>
   *   <li>{@code shard} string, its id; null: a manifest, a tag or another file of the table
   *   <li>{@code field} string; null: not about one
   *   <li>{@code index} bigint, of the first record concerned; null: none in particular
   *   <li>{@code count} bigint, records concerned, from {@code index} on
   *   <li>{@code file} string, full path
   *   <li>{@code offset}, {@code length} bigint, the bytes of the damaged value in {@code file};
   *       null: not about such
   *   <li>{@code kind} string, as {@link io.zrecord.verify.Finding.Kind} in lower case
   *   <li>{@code damage} boolean, false if it is only worth knowing
   *   <li>{@code reason} string, what is wrong, with which values
   * </ul>
   *
   * <p>Of a shard with more than 100,000 findings the others are counted by {@link #run} only,
   * whose {@link CheckSummary#damageCount} then is greater than the number of rows.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no dataset
   */
  public Dataset<Row> findings() {
    return new VerifyRun(spark, check, Integer.MAX_VALUE).findings();
  }

  /**
   * Those of {@link #findings} by which values of certain records cannot be read, with the same
   * limit.
   */
  public Dataset<Row> badValues() {
    return begin().badValues();
  }

  /** Entry for {@code spark-submit}: {@code --help} says what it takes. */
  public static void main(String[] args) {
    SubmittedCommand.run(new VerifyJob(), args);
  }
}
