package io.zrecord.spark.catalog;

import io.zrecord.errors.NotADatasetException;
import io.zrecord.read.IndexSet;
import io.zrecord.schema.Declarations;
import io.zrecord.spark.column.ColumnMetadata;
import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.column.SparkTypes;
import io.zrecord.spark.column.UnreadableColumns;
import io.zrecord.spark.ddl.ShownConstraints;
import io.zrecord.spark.ddl.TableAlteration;
import io.zrecord.spark.ddl.TableDefinition;
import io.zrecord.spark.options.ReadConf;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.options.VersionChoice;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.partition.PartitionColumns;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.Reloads;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.rows.PlaceDeletion;
import io.zrecord.spark.rows.RowOperation;
import io.zrecord.spark.scan.DecidedPlaces;
import io.zrecord.spark.scan.PartitionFilter;
import io.zrecord.spark.scan.ZRecordScanBuilder;
import io.zrecord.spark.stream.StreamableWriteBuilder;
import io.zrecord.spark.write.WriteTarget;
import io.zrecord.table.TableSnapshot;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.connector.catalog.SupportsDeleteV2;
import org.apache.spark.sql.connector.catalog.SupportsMetadataColumns;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.SupportsRowLevelOperations;
import org.apache.spark.sql.connector.catalog.SupportsWrite;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.constraints.Constraint;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperationBuilder;
import org.apache.spark.sql.connector.write.RowLevelOperationInfo;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.jspecify.annotations.Nullable;

/**
 * A dataset as Spark sees it, at the version at which it was loaded. Several datasets, read by
 * several paths, follow each other. Immutable, except for what a rule says of a write.
 */
public class ZRecordTable
    implements SupportsRead,
        SupportsWrite,
        SupportsMetadataColumns,
        SupportsRowLevelOperations,
        SupportsDeleteV2 {
  /** Lets Spark change the table's columns before it writes what a query has; new in 4.1. */
  private static final Optional<TableCapability> SCHEMA_EVOLUTION = Arrays.stream(
          TableCapability.values())
      .filter(capability -> capability.name().equals("AUTOMATIC_SCHEMA_EVOLUTION"))
      .findFirst();

  private final ReadPaths paths;
  private final StructType schema;
  private final List<DatasetVersion> versions;
  private final VersionChoice choice;
  private final Optional<WriteTarget> target;
  private final boolean acceptsAnySchema;
  private final boolean isNamed;
  private final ShownConstraints constraints;
  private final Map<String, String> defaultsOfRecords = ReadConf.defaultsOfRecords();

  /** Whether the query of an append to this table reads the table. Told by a rule. */
  private volatile boolean isReadByItsAppend;

  private volatile boolean isOneOfSeveralAppends;
  private volatile boolean isReadInLoop;

  ZRecordTable(
      ReadPaths paths,
      StructType schema,
      List<DatasetVersion> versions,
      VersionChoice choice,
      Optional<WriteTarget> target,
      boolean acceptsAnySchema,
      boolean isNamed) {
    this.paths = paths;
    this.schema = schema;
    this.versions = List.copyOf(versions);
    this.choice = choice;
    this.target = target;
    this.acceptsAnySchema = acceptsAnySchema;
    this.isNamed = isNamed;
    this.constraints = new ShownConstraints(target
        .filter(place -> place.creation() == WriteTarget.Creation.APPEND)
        .flatMap(WriteTarget::base)
        .or(() -> versions.size() == 1 ? Optional.of(versions.get(0)) : Optional.empty()));
  }

  /** Creates the same table. */
  ZRecordTable(ZRecordTable same) {
    this(
        same.paths,
        same.schema,
        same.versions,
        same.choice,
        same.target,
        same.acceptsAnySchema,
        same.isNamed);
  }

  /** Returns a table of one or several versions to read; nothing can be written. */
  static ZRecordTable forReading(
      ReadPaths paths, StructType schema, List<DatasetVersion> versions, VersionChoice choice) {
    return new ZRecordTable(paths, schema, versions, choice, Optional.empty(), false, false);
  }

  /**
   * Returns a table that reads a version, and writes on the newest version with the columns of the
   * version read.
   */
  static ZRecordTable strict(
      ReadPaths path, DatasetVersion version, VersionChoice choice, WriteTarget target) {
    return EvolvingTables.of(new ZRecordTable(
        path,
        WrittenColumns.of(SparkTypes.structOf(version.schema()), target),
        List.of(version),
        choice,
        Optional.of(target),
        false,
        true));
  }

  /**
   * Returns this table as a statement sees it that says that it writes. The columns lack what
   * applications say of them, so that Spark does not take that for what a query says.
   */
  final ZRecordTable forWriting() {
    StructType columns = ColumnMetadata.withoutApplications(schema);
    return EvolvingTables.of(
        new ZRecordTable(paths, columns, versions, choice, target, acceptsAnySchema, isNamed));
  }

  /** Returns this table as one that Spark must not load again. */
  final ZRecordTable pinned() {
    return new ZRecordTable(paths, schema, versions, choice, target, acceptsAnySchema, false);
  }

  /**
   * Returns a place to be written with any columns. The write compares the columns with those of
   * the table at the place, if there is one.
   */
  public static ZRecordTable lenient(ReadPaths path, StructType schema, WriteTarget target) {
    return EvolvingTables.of(new ZRecordTable(
        path,
        schema,
        target.base().stream().toList(),
        VersionChoice.named(TimeTravel.newest()),
        Optional.of(target),
        true,
        true));
  }

  /**
   * Creates a table that does not exist yet, to be written with these columns. Until then, the
   * table has no rows.
   */
  ZRecordTable(ReadPaths path, StructType schema, WriteTarget target) {
    this(
        path,
        schema,
        List.of(),
        VersionChoice.named(TimeTravel.newest()),
        Optional.of(target),
        false,
        false);
  }

  @Override
  public String name() {
    return paths.table().orElseGet(() -> ZRecordOptions.FORMAT + ".`" + location() + "`");
  }

  /** Refuses options that name another path, or settings that come too late. */
  final void requireObeyed(CaseInsensitiveStringMap options) {
    SparkErrors.done(() -> paths.requireObeyed(options));
  }

  /**
   * Returns the one dataset that this is.
   *
   * @throws IllegalArgumentException if there are several
   */
  public DatasetPath path() {
    List<DatasetPath> datasets = paths.datasets();
    if (datasets.size() != 1) {
      throw new IllegalArgumentException(location() + " are several datasets; name one");
    }
    return datasets.get(0);
  }

  /** Returns the version that was loaded; empty if there is none, or there are several. */
  final Optional<DatasetVersion> onlyVersion() {
    return versions.size() == 1 ? Optional.of(versions.get(0)) : Optional.empty();
  }

  /** Returns the paths of the table. */
  final ReadPaths paths() {
    return paths;
  }

  /**
   * Returns the paths of the table for a read of changes, which names versions itself.
   *
   * @throws IllegalArgumentException if the statement names a version
   */
  final ReadPaths requireOfChanges() {
    if (choice.isNamed() && !choice.loaded().isNewest()) {
      throw new IllegalArgumentException("Cannot read the changes of " + location() + " as of "
          + choice.loaded() + "; leave that out, and give " + ZRecordOptions.CHANGES_FROM + " and "
          + ZRecordOptions.CHANGES_TO);
    }
    return paths;
  }

  /** Returns where the table is, for messages. */
  final String location() {
    return paths.toString();
  }

  /**
   * Returns the identity of the dataset, or null if there is no dataset yet. Spark 4.1 and later
   * compare identities to find cached tables, and to notice that a table was dropped and created
   * again. Spark does not load a table without a {@link #version} again, so the identity of such a
   * table changes with each commit.
   */
  public @Nullable String id() {
    if (!followsCommits()) {
      return recordsName();
    }
    return versions.isEmpty() ? null : versions.get(0).datasetId();
  }

  /**
   * Returns the version of the records and fields; null if Spark must not load the table again.
   * With a version, Spark loads the table again before each query from 4.1 on, so that all uses of
   * a data frame read the newest version. A tag and an expiry keep the version. No
   * {@code @Override}: older releases lack the method.
   */
  public @Nullable String version() {
    if (!followsCommits()) {
      return null;
    }
    return versions.isEmpty() ? "" : versions.get(0).id();
  }

  /**
   * Tells whether loading the table again by its name gives the newest version of the same dataset.
   * A store changes without commits. What is read by defaults of the session stays as it was.
   */
  private boolean followsCommits() {
    return isNamed
        && choice.wanted().isNewest()
        && defaultsOfRecords.isEmpty()
        && !paths.isPattern()
        && versions.size() <= 1
        && versions.stream().noneMatch(DatasetVersion::isStore);
  }

  /** Returns a name of what is read. Each version with other records or fields has its own name. */
  private String recordsName() {
    return versions.stream().map(DatasetVersion::id).collect(Collectors.joining(",")) + " at "
        + choice.wanted() + (defaultsOfRecords.isEmpty() ? "" : " with " + defaultsOfRecords);
  }

  /** Remembers that the table was loaded by a name, see {@link Reloads}. */
  public final ZRecordTable loadedAs(String catalog, Identifier identifier) {
    if (version() != null) {
      Reloads.Version loaded = version(versions.stream().findFirst());
      Reloads.loaded(
          catalog, identifier, this, paths.normalized(), loaded, () -> version(newest()));
    }
    return this;
  }

  private Optional<DatasetVersion> newest() {
    return paths.datasets().get(0).newest();
  }

  private static Reloads.Version version(Optional<DatasetVersion> dataset) {
    return dataset.map(DatasetVersion::version).orElse(Reloads.Version.NONE);
  }

  /** Returns where a write of the table goes, if the table can be written. */
  public final Optional<WriteTarget> target() {
    return target;
  }

  /** Returns the options that every write of the table has. */
  public Map<String, String> writeOptions() {
    return Map.of();
  }

  /**
   * Returns the columns; those of a table with a name with CHAR and VARCHAR as they were declared,
   * for statements that describe the table. A statement that reads takes such columns for strings
   * of limited length. A stream does not, so TextsOfStreams changes the columns of a stream.
   */
  @Override
  @SuppressWarnings("deprecation") // Newer releases prefer columns(); the oldest has schema() only.
  public StructType schema() {
    return isNamed ? CharVarcharUtils.getRawSchema(schema) : schema;
  }

  @Override
  public Map<String, String> properties() {
    return TableDefinition.shown(
        paths, versions.size() == 1 ? versions.get(0).declarations() : Declarations.NONE);
  }

  /**
   * Returns the constraints that a write must obey. Spark evaluates each check on every row of a
   * write, from 4.1 on. No {@code @Override}: older releases lack the method.
   */
  public Constraint[] constraints() {
    return constraints.show();
  }

  /** Returns the columns by which the table is, or will be, partitioned. */
  @Override
  public Transform[] partitioning() {
    return partitionColumns().transforms();
  }

  /** Returns the names of the columns by which the table is partitioned. */
  public final List<String> partitionNames() {
    return partitionColumns().names();
  }

  /** Tells whether partitions decide a condition. */
  public final boolean isDecidedByPartitions(Predicate condition) {
    return versions.size() == 1
        && versions.get(0).hasKnownPartitionFields()
        && PartitionFilter.undecided(versions.get(0).partitionFields(), List.of(condition))
            .isEmpty();
  }

  private PartitionColumns partitionColumns() {
    if (versions.isEmpty()) {
      return target.map(WriteTarget::partitions).orElse(PartitionColumns.NONE);
    }
    return versions.size() == 1 && versions.get(0).hasKnownPartitionFields()
        ? PartitionColumns.of(versions.get(0).partitionFields())
        : PartitionColumns.NONE;
  }

  @Override
  public Set<TableCapability> capabilities() {
    EnumSet<TableCapability> capabilities =
        EnumSet.of(TableCapability.BATCH_READ, TableCapability.MICRO_BATCH_READ);
    if (target.isPresent()) {
      capabilities.add(TableCapability.BATCH_WRITE);
      capabilities.add(TableCapability.STREAMING_WRITE);
      capabilities.add(TableCapability.TRUNCATE);
      capabilities.add(TableCapability.OVERWRITE_BY_FILTER);
      capabilities.add(TableCapability.OVERWRITE_DYNAMIC);
      // Spark changes the columns of a table through the catalog that has the table's name.
      SCHEMA_EVOLUTION.filter(known -> isNamed).ifPresent(capabilities::add);
    }
    if (acceptsAnySchema) {
      capabilities.add(TableCapability.ACCEPT_ANY_SCHEMA);
    }
    return capabilities;
  }

  @Override
  public MetadataColumn[] metadataColumns() {
    return Stream.concat(
            Stream.of(MetadataColumns.all()),
            versions.stream()
                .limit(1)
                .flatMap(version -> UnreadableColumns.of(version.schema()).stream()))
        .toArray(MetadataColumn[]::new);
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    return SparkErrors.planned(() -> {
      ScanBuilder scan = scanBuilder(options);
      return isReadInLoop && scan instanceof ZRecordScanBuilder records ? records.forLoop() : scan;
    });
  }

  private ScanBuilder scanBuilder(CaseInsensitiveStringMap options) {
    if (acceptsAnySchema && versions.isEmpty()) {
      throw new NotADatasetException(
          location(), "Cannot read " + location() + ": there is no dataset. Check the path");
    }
    ReadConf conf = ReadConf.ofRecords(options, defaultsOfRecords);
    requireObeyed(options);
    versions.forEach(version -> UnreadableColumns.warn(location(), version.schema()));
    return new ZRecordScanBuilder(
        location(),
        snapshots(options),
        schema,
        conf,
        new TableScan(
            location(),
            paths.isPattern() ? Optional.empty() : onlyVersion(),
            options,
            conf,
            isOfChosenVersion(options) || !defaultsOfRecords.isEmpty()));
  }

  /**
   * Returns the versions that a scan with these options reads.
   *
   * @throws IllegalArgumentException if the options select another version than the statement
   */
  public final List<TableSnapshot> snapshots(CaseInsensitiveStringMap options) {
    TimeTravel time = choice.of(location(), options);
    return (time.equals(choice.loaded())
            ? versions
            : OtherVersions.of(paths, schema, versions, choice.loaded(), time))
        .stream().map(DatasetVersion::snapshot).toList();
  }

  /** Tells whether a read with these options is of a version that somebody chose. */
  public final boolean isOfChosenVersion(CaseInsensitiveStringMap options) {
    return !choice.of(location(), options).isNewest();
  }

  /** Tells whether Spark can change the columns of this table before it writes. */
  public final boolean hasEvolution() {
    return evolves() && isNamed;
  }

  /**
   * Tells whether a statement {@code WITH SCHEMA EVOLUTION} is to make a change of a column before
   * it writes. A column whose type does not promote to that of the values keeps its type, and the
   * values are cast, as without the words. Members of a column are refused when they are added.
   */
  final boolean takes(TableChange.ColumnChange change) {
    return !(change instanceof TableChange.UpdateColumnType update)
        || onlyVersion()
            .filter(version -> TableAlteration.promotes(paths, version.snapshot(), update))
            .isPresent();
  }

  /** Tells whether this release of Spark can change the columns of a table before it writes. */
  public static boolean evolves() {
    return SCHEMA_EVOLUTION.isPresent();
  }

  /**
   * Remembers that the query of the append to this table reads the table, so that the append
   * depends on what other commits do meanwhile. Spark loads a table for each statement that writes.
   */
  public final void readByItsAppend() {
    isReadByItsAppend = !isOneOfSeveralAppends;
  }

  /**
   * Remembers that the statement appends to this table several times, so that an append must not
   * take the one before for that of another program.
   */
  public final void appendedSeveralTimes() {
    isOneOfSeveralAppends = true;
  }

  /** Remembers that a recursive query reads this table, whose scans run several times. */
  public final void readInLoop() {
    isReadInLoop = true;
  }

  @Override
  public WriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    WriteTarget place = target.orElseThrow(() -> new IllegalArgumentException("Cannot write to "
        + location() + " as of an older version; leave versionAsOf, tag and timestampAsOf out"));
    requireObeyed(info.options());
    WriteTarget evaluated = place.evaluating(constraints.evaluated());
    return StreamableWriteBuilder.of(
        location(), isReadByItsAppend ? evaluated.readByItsAppend() : evaluated, info);
  }

  /** Tells whether a write with a condition finds a version of a table, and its columns. */
  public final boolean hasRecordsToReplace() {
    return !acceptsAnySchema
        && target
            .filter(place -> place.creation() == WriteTarget.Creation.APPEND)
            .flatMap(WriteTarget::base)
            .isPresent();
  }

  @Override
  public RowLevelOperationBuilder newRowLevelOperationBuilder(RowLevelOperationInfo info) {
    return () -> SparkErrors.planned(() -> {
      changed(info.options());
      return new RowOperation(
          location(),
          () -> changed(info.options()),
          info.command(),
          this::newRowScanBuilder,
          writeOptions());
    });
  }

  private ScanBuilder newRowScanBuilder(CaseInsensitiveStringMap options) {
    return SparkErrors.planned(() -> {
      changed(options);
      return ((ZRecordScanBuilder) scanBuilder(options)).forRowChanges();
    });
  }

  /**
   * Returns the target of a statement that changes records.
   *
   * @throws IllegalArgumentException if this does not read all records of the newest version
   */
  private WriteTarget changed(CaseInsensitiveStringMap options) {
    WriteTarget place = requireTarget();
    requireObeyed(options);
    if (!choice.of(location(), options).isNewest()) {
      throw notNewest(choice.of(location(), options).toString());
    }
    if (!defaultsOfRecords.isEmpty()) {
      throw new IllegalArgumentException("Cannot change records of " + location()
          + " in a session with the defaults " + defaultsOfRecords
          + " for reads; unset them in the session");
    }
    return place.evaluating(constraints.evaluated());
  }

  /**
   * Returns the target of a statement that changes records.
   *
   * @throws RuntimeException if there is none, which says why
   */
  WriteTarget requireTarget() {
    return target.orElseThrow(() -> notNewest(choice.wanted().toString()));
  }

  private IllegalArgumentException notNewest(String version) {
    return new IllegalArgumentException("Cannot change records of " + location() + " as of "
        + version + "; change those of the newest version");
  }

  /** Tells whether metadata alone says which records a deletion is of. */
  @Override
  public boolean canDeleteWhere(Predicate[] predicates) {
    return target.isPresent() && deletion(predicates).isPresent();
  }

  private Optional<IndexSet> deletion(Predicate[] predicates) {
    return versions.size() == 1
        ? DecidedPlaces.of(versions.get(0).snapshot(), predicates)
        : Optional.empty();
  }

  @Override
  public void deleteWhere(Predicate[] predicates) {
    SparkErrors.done(() -> PlaceDeletion.commit(
        location(),
        changed(CaseInsensitiveStringMap.empty()),
        deletion(predicates).orElseThrow()));
  }

  @Override
  public boolean truncateTable() {
    deleteWhere(new Predicate[0]);
    return true;
  }

  /**
   * Returns nothing. Several interfaces of newer releases have a default for this method, so a
   * class must choose. No {@code @Override}: older releases lack the method.
   */
  public CustomTaskMetric[] reportDriverMetrics() {
    return new CustomTaskMetric[0];
  }

  /** Returns nothing, as {@link #reportDriverMetrics} does. */
  public CustomMetric[] supportedCustomMetrics() {
    return new CustomMetric[0];
  }

  /** Returns the class of which the table is, whatever the release of Spark asks of it. */
  Class<? extends ZRecordTable> kind() {
    return getClass();
  }

  /** Tells whether the other table reads the same records, and is written like this table. */
  @Override
  public boolean equals(Object other) {
    return other instanceof ZRecordTable table
        && kind() == table.kind()
        && paths.equals(table.paths)
        && recordsName().equals(table.recordsName())
        && ColumnMetadata.bare(schema).equals(ColumnMetadata.bare(table.schema))
        && choice.equals(table.choice)
        && acceptsAnySchema == table.acceptsAnySchema
        && target.map(WriteTarget::creation).equals(table.target.map(WriteTarget::creation));
  }

  @Override
  public int hashCode() {
    return Objects.hash(paths, recordsName());
  }
}
