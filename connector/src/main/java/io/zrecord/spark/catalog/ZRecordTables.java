package io.zrecord.spark.catalog;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.changes.ChangesTable;
import io.zrecord.spark.changes.TableChangelog;
import io.zrecord.spark.column.SparkTypes;
import io.zrecord.spark.ddl.SparkFeatures;
import io.zrecord.spark.options.ChangesConf;
import io.zrecord.spark.options.StreamReadConf;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.options.VersionChoice;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.PathIdentifiers;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.stream.TableStream;
import io.zrecord.spark.write.WriteTarget;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.connector.catalog.Changelog;
import org.apache.spark.sql.connector.catalog.ChangelogContext;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** Loads datasets as tables of Spark. Stateless. */
public final class ZRecordTables {
  private ZRecordTables() {}

  /** Loads the datasets at the paths, one after the other, for reading. */
  public static ZRecordTable load(ReadPaths paths, TimeTravel time) {
    return load(paths, VersionChoice.named(time));
  }

  private static ZRecordTable load(ReadPaths paths, VersionChoice choice) {
    List<DatasetVersion> versions = paths.datasets().stream()
        .map(dataset -> dataset.version(choice.loaded()))
        .toList();
    RecordSchema first = versions.get(0).schema();
    for (int i = 1; i < versions.size(); i++) {
      requireSameColumns(
          paths.found().get(0), first, paths.found().get(i), versions.get(i).schema());
    }
    StructType columns = SparkTypes.structOf(first);
    // A dataset that follows may have nulls where the first has none.
    return ZRecordTable.forReading(
        paths, versions.size() == 1 ? columns : nullable(columns), versions, choice);
  }

  private static StructType nullable(StructType columns) {
    return new StructType(Arrays.stream(columns.fields())
        .map(field -> new StructField(field.name(), field.dataType(), true, field.metadata()))
        .toArray(StructField[]::new));
  }

  /**
   * Returns the table that has a name in a session.
   *
   * @throws IllegalArgumentException if the table is none of zrecord, or a view; Spark says by an
   *     {@code AnalysisException} that there is no table of the name
   */
  public static ZRecordTable named(SparkSession spark, String name) {
    LogicalPlan plan = spark.table(name).queryExecution().analyzed();
    while (plan instanceof SubqueryAlias alias) {
      plan = alias.child();
    }
    if (plan instanceof DataSourceV2Relation relation
        && relation.table() instanceof ZRecordTable known
        && (known.target().isPresent() || known instanceof BrokenTable)) {
      return known;
    }
    throw new IllegalArgumentException("'" + name + "' is no table of " + ZRecordOptions.FORMAT
        + ", or a view of one; give the name of a table, or its path");
  }

  /** Loads the newest version at a path, for writing. */
  public static ZRecordTable loadStrict(ReadPaths path) {
    return strict(path, VersionChoice.loadedNewest());
  }

  /** Loads the same for a statement that says that it writes. */
  public static ZRecordTable loadForWriting(ReadPaths path) {
    return loadStrict(path).forWriting();
  }

  /**
   * Loads a path for reading and writing. Reads the version that the session's defaults select.
   * What matches a pattern is for reading only.
   */
  public static ZRecordTable loadDefault(ReadPaths paths) {
    VersionChoice choice = VersionChoice.byDefault(VersionChoice.ofSession());
    return paths.isPattern() ? load(paths, choice) : strict(paths, choice);
  }

  /**
   * Loads the newest version at a path, for reading and for writing what Spark has compared with
   * the columns. Spark may load the table again before each query.
   */
  static ZRecordTable loadHeld(ReadPaths path) {
    return strict(path, VersionChoice.named(TimeTravel.newest()));
  }

  /** Loads the same as {@link #loadHeld}, if there is a dataset. */
  static Optional<ZRecordTable> findHeld(ReadPaths path) {
    DatasetPath dataset = path.datasets().get(0);
    return dataset.newest().map(newest -> held(path, dataset, newest));
  }

  private static ZRecordTable held(ReadPaths path, DatasetPath dataset, DatasetVersion newest) {
    return ZRecordTable.strict(
        path,
        newest,
        VersionChoice.named(TimeTravel.newest()),
        WriteTarget.at(dataset, Optional.of(newest), WriteTarget.Creation.APPEND));
  }

  /** Loads the same as {@link #loadHeld}, for a reader that stays with this version. */
  static ZRecordTable loadPinned(ReadPaths path) {
    return loadHeld(path).pinned();
  }

  private static ZRecordTable strict(ReadPaths path, VersionChoice choice) {
    DatasetPath dataset = path.datasets().get(0);
    DatasetVersion newest = dataset.version(TimeTravel.newest());
    DatasetVersion read = choice.loaded().isNewest() ? newest : dataset.version(choice.loaded());
    return ZRecordTable.strict(
        path,
        read,
        choice,
        WriteTarget.at(dataset, Optional.of(newest), WriteTarget.Creation.APPEND));
  }

  /**
   * Loads a path that may be empty, for writing any columns. If Spark evaluates checks of the
   * table, the columns must be those of the table, of which the checks are.
   */
  public static ZRecordTable loadLenient(ReadPaths path) {
    DatasetPath dataset = path.datasets().get(0);
    Optional<DatasetVersion> newest = dataset.newest();
    if (SparkFeatures.evaluatesChecks()
        && newest.isPresent()
        && !newest.get().declarations().enforced().isEmpty()) {
      return held(path, dataset, newest.get());
    }
    StructType schema = newest.map(s -> SparkTypes.structOf(s.schema())).orElseGet(StructType::new);
    return ZRecordTable.lenient(
        path, schema, WriteTarget.at(dataset, newest, WriteTarget.Creation.APPEND));
  }

  /**
   * Returns a table that Spark's own session catalog keeps. The catalog asks once without a path
   * while it creates a managed table.
   */
  public static ZRecordTable forSessionCatalog(
      StructType schema, Optional<Identifier> identifier, Map<String, String> options) {
    if (identifier.isEmpty()) {
      return ZRecordTable.forReading(
          ReadPaths.literal("(no path yet)"),
          schema,
          List.of(),
          VersionChoice.named(TimeTravel.newest()));
    }
    List<String> paths = PathIdentifiers.paths(identifier.get());
    return paths.size() > 1
        ? load(ReadPaths.literal(paths), TimeTravel.newest())
        : SessionTable.loadUnnamed(SessionEntry.ofOptions(paths.get(0), schema, options));
  }

  private static void requireSameColumns(
      String path, RecordSchema schema, String otherPath, RecordSchema other) {
    boolean same = schema.fields().size() == other.fields().size();
    for (int i = 0; same && i < schema.fields().size(); i++) {
      var field = schema.fields().get(i);
      var match = other.find(field.name());
      same = match.isPresent()
          && match.get().type().equals(field.type())
          && match.get().shape().equals(field.shape());
    }
    if (!same) {
      throw new SchemaMismatchException(
          otherPath,
          "Cannot read " + path + " and " + otherPath + " together: their columns are "
              + SparkTypes.structOf(schema).catalogString() + " and "
              + SparkTypes.structOf(other).catalogString()
              + "; read them one by one and use unionByName");
    }
  }

  /**
   * Returns the changes of a table that was loaded.
   *
   * @throws UnsupportedOperationException if the table is none of zrecord, which Spark puts into
   *     words
   */
  static Changelog changesOf(Identifier identifier, Table table, ChangelogContext context) {
    if (!(table instanceof ZRecordTable ours)) {
      throw new UnsupportedOperationException("The changes of " + identifier + " are not known");
    }
    return SparkErrors.planned(
        () -> TableChangelog.of(identifier.name(), ours.paths(), context, streams(ours.paths())));
  }

  /**
   * Returns the changes of a table that was loaded, as the options of a read ask for them.
   *
   * @throws IllegalArgumentException if the statement reads the table as of a version
   */
  public static ChangesTable changesOf(ZRecordTable table, ChangesConf conf) {
    return SparkErrors.planned(() -> ChangesTable.of(table.requireOfChanges(), conf));
  }

  /**
   * Returns the changes of a table that was loaded, as a stream.
   *
   * @throws IllegalArgumentException if the statement reads the table as of a version
   */
  public static ChangesTable streamOfChanges(ZRecordTable table) {
    return SparkErrors.planned(() -> streamOfChanges(table.requireOfChanges()));
  }

  /** Returns the changes of the table at a path, as a stream. */
  public static ChangesTable streamOfChanges(ReadPaths paths) {
    return ChangesTable.ofStream(paths, streams(paths));
  }

  private static ChangesTable.Streams streams(ReadPaths paths) {
    return (opened, settings, options, problem) ->
        new TableStream(paths.toString(), opened, settings, StreamReadConf.of(options), problem);
  }
}
