package io.zrecord.spark.changes;

import io.zrecord.spark.options.ChangesConf;
import io.zrecord.spark.options.ReadConf;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.scan.ReadSettings;
import io.zrecord.table.TableSnapshot;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The changes of a table, between two versions or as they come, as a table that is read. Immutable.
 */
public final class ChangesTable implements Table, SupportsRead {
  private final ReadPaths paths;
  private final TableSnapshot last;
  private final Optional<ChangesRange> range;
  private final boolean isToNewest;
  private final Optional<Streams> streams;
  private final Optional<RuntimeException> problem;
  private final StructType columns;

  /** Makes streams of changes, which packages above do. */
  public interface Streams {
    /**
     * Opens a stream.
     *
     * @param opened the version whose columns the stream has
     * @param problem why no stream can begin; one that goes on from a checkpoint can
     */
    MicroBatchStream open(
        TableSnapshot opened,
        ReadSettings settings,
        CaseInsensitiveStringMap options,
        Optional<RuntimeException> problem);
  }

  /**
   * Makes a table.
   *
   * @param last the last version, whose columns the table has
   * @param range what a batch tells; empty if there is no end, or no first version
   * @param problem why there is no first version; empty if there is one, or no range was asked for
   */
  ChangesTable(
      ReadPaths paths,
      TableSnapshot last,
      Optional<ChangesRange> range,
      boolean isToNewest,
      Optional<Streams> streams,
      Optional<RuntimeException> problem) {
    this.paths = paths;
    this.last = last;
    this.range = range;
    this.isToNewest = isToNewest;
    this.streams = streams;
    this.problem = problem;
    this.columns = ChangeColumns.of(paths.toString(), last.schema());
  }

  /**
   * Loads the changes of some versions.
   *
   * @throws io.zrecord.errors.VersionNotFoundException if there is no such version
   * @throws io.zrecord.errors.SchemaMismatchException if a field of the table has the name of a
   *     column of changes
   * @throws IllegalArgumentException if this is no single table
   */
  public static ChangesTable of(ReadPaths paths, ChangesConf conf) {
    ChangesBounds bounds = ChangesBounds.of(conf);
    DatasetPath path = requireTable(paths);
    ChangesRange range = bounds.upTo(bounds.end(path), path);
    return new ChangesTable(
        paths,
        range.to(),
        Optional.of(range),
        bounds.isToNewest(),
        Optional.empty(),
        Optional.empty());
  }

  /**
   * Loads the changes of a table as a stream, which has the columns of the newest version.
   *
   * @throws io.zrecord.errors.SchemaMismatchException if a field of the table has the name of a
   *     column of changes
   * @throws IllegalArgumentException if this is no single table
   */
  public static ChangesTable ofStream(ReadPaths paths, Streams streams) {
    TableSnapshot newest = requireTable(paths).table().latest();
    return new ChangesTable(
        paths, newest, Optional.empty(), true, Optional.of(streams), Optional.empty());
  }

  /**
   * Returns the place of a table.
   *
   * @throws IllegalArgumentException if there are several datasets, or it is a store
   */
  static DatasetPath requireTable(ReadPaths paths) {
    if (paths.found().size() != 1 || paths.isPattern()) {
      throw new IllegalArgumentException("Cannot tell the changes of " + paths
          + ", which is no single table; name one table, without a pattern");
    }
    DatasetPath path = paths.datasets().get(0);
    if (path.store().isPresent()) {
      throw new IllegalArgumentException("Cannot tell the changes of " + path.path()
          + ": it is a store that is written online, and has no versions; append to it first,"
          + " which makes a table of it");
    }
    return path;
  }

  @Override
  public String name() {
    return paths + ".changes";
  }

  /** Returns the last version whose changes are told, or whose columns a stream has. */
  public TableSnapshot last() {
    return last;
  }

  /** Tells whether the last version was the newest, and nobody named it. */
  public boolean isToNewest() {
    return isToNewest;
  }

  /** Returns the columns of the last version, then those that say what a row is. */
  @Override
  @SuppressWarnings("deprecation") // Spark 3.5 calls this method too.
  public StructType schema() {
    return columns;
  }

  @Override
  public Map<String, String> properties() {
    return Map.of();
  }

  @Override
  public Set<TableCapability> capabilities() {
    return Set.of(
        range.isPresent() ? TableCapability.BATCH_READ : TableCapability.MICRO_BATCH_READ);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return newScanBuilder(options, options, () -> {});
  }

  /**
   * Makes a scan.
   *
   * @param ofStream the options if the scan is that of a stream
   * @param requirement what a stream has to meet besides
   */
  ScanBuilder newScanBuilder(
      CaseInsensitiveStringMap options, CaseInsensitiveStringMap ofStream, Runnable requirement) {
    return SparkErrors.planned(() -> {
      paths.requireObeyed(options);
      ReadConf conf = ReadConf.ofChanges(options);
      return new ChangesScanBuilder(paths.toString(), this, range, conf, settings -> {
        requirement.run();
        return streams.orElseThrow(this::refusal).open(last, settings, ofStream, problem);
      });
    });
  }

  /** Returns why a batch has no range of versions. */
  RuntimeException withoutRange() {
    return problem.orElseGet(() -> new IllegalArgumentException("Cannot tell the changes of "
        + paths + " without an end; name a range of versions or times"));
  }

  private RuntimeException refusal() {
    return Unsupported.operation(
        "a stream of the changes of some versions of " + paths,
        "use " + ZRecordOptions.READ_CHANGES + ", and " + ZRecordOptions.STARTING_VERSION
            + " for the first version");
  }
}
