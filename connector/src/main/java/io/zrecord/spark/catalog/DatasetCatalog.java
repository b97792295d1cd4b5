package io.zrecord.spark.catalog;

import io.zrecord.errors.DatasetExistsException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.spark.changes.ChangesTable;
import io.zrecord.spark.ddl.NewTable;
import io.zrecord.spark.ddl.SparkFeatures;
import io.zrecord.spark.ddl.TableAlteration;
import io.zrecord.spark.ddl.TableDefinition;
import io.zrecord.spark.metadata.MetadataTable;
import io.zrecord.spark.options.CatalogOptions;
import io.zrecord.spark.options.ChangesConf;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.options.VersionChoice;
import io.zrecord.spark.options.VersionSelector;
import io.zrecord.spark.options.ViewName;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.partition.PartitionColumns;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.NoSuchDatasetException;
import io.zrecord.spark.path.PathIdentifiers;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.warehouse.WarehouseNames;
import io.zrecord.spark.write.WriteTarget;
import io.zrecord.table.DropOptions;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.connector.catalog.Changelog;
import org.apache.spark.sql.connector.catalog.ChangelogContext;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalogCapability;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.jspecify.annotations.Nullable;

/**
 * The common part of the two catalogs of paths, one of which has tables with names as well.
 * Creating or replacing a table with a query is one commit.
 */
public abstract class DatasetCatalog implements NewTables {
  private String name = ZRecordOptions.FORMAT;

  @Override
  public final void initialize(String catalogName, CaseInsensitiveStringMap options) {
    configure(catalogName, options);
    name = catalogName;
  }

  /** Takes the options of the catalog. */
  protected void configure(String catalog, CaseInsensitiveStringMap options) {
    CatalogOptions.requireNone(catalog, options);
  }

  /** Returns the tables that have names; empty if each identifier is a path. */
  protected Optional<WarehouseNames> names() {
    return Optional.empty();
  }

  private WarehouseNames requireNames(Identifier identifier) throws NoSuchTableException {
    return names().orElseThrow(() -> new NoSuchDatasetException(identifier));
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final Set<TableCatalogCapability> capabilities() {
    return SparkFeatures.capabilities();
  }

  @Override
  public final Identifier[] listTables(String[] namespace) throws NoSuchNamespaceException {
    return names()
        .orElseThrow(() -> Unsupported.operation(
            "listing datasets",
            "name one by its path: " + ZRecordOptions.FORMAT
                + ".`/data/train`, or use a catalog with a warehouse"))
        .tables(namespace);
  }

  @Override
  public final Table loadTable(Identifier identifier, String version) throws NoSuchTableException {
    return load(identifier, TimeTravel.of(version));
  }

  /** Loads a table as it was at a time, in microseconds since 1970. */
  @Override
  public final Table loadTable(Identifier identifier, long timestampMicros)
      throws NoSuchTableException {
    return load(identifier, TimeTravel.atMicros(timestampMicros));
  }

  @Override
  public final boolean tableExists(Identifier identifier) {
    if (!identifiesPaths(identifier)) {
      return isNamed(identifier) || isMetadata(identifier);
    }
    refuseView(identifier);
    return isTaken(requireOne(identifier));
  }

  private boolean isNamed(Identifier identifier) {
    return names()
        .flatMap(known -> known.find(identifier))
        .filter(this::isTaken)
        .isPresent();
  }

  /** Tells whether an identifier is the name of a table, and after it that of a metadata table. */
  private boolean isMetadata(Identifier identifier) {
    return !identifiesPaths(identifier)
        && MetadataName.of(identifier)
            .map(MetadataName::table)
            .filter(table -> identifiesPaths(table) || isNamed(table))
            .isPresent();
  }

  /**
   * Returns the metadata table that an identifier names; empty if it names a table, or nothing.
   * What is at a path is looked at later.
   *
   * @throws IllegalArgumentException if there is a table of that name as well: neither is meant for
   *     certain
   */
  protected final Optional<MetadataName> metadata(Identifier identifier) {
    if (!isMetadata(identifier)) {
      return Optional.empty();
    }
    Optional<MetadataName> found = MetadataName.of(identifier);
    if (isNamed(identifier)) {
      throw new IllegalArgumentException("Cannot tell what " + identifier + " is: there is a table"
          + " of that name, and a metadata table of " + found.get().table()
          + "; name the place of the table in backquotes, or read the metadata table by the option "
          + ZRecordOptions.VIEW);
    }
    return found;
  }

  /** Loads a metadata table. */
  protected final Table load(MetadataName metadata, VersionChoice choice) {
    return SparkErrors.planned(() -> MetadataTable.load(
        identifiesPaths(metadata.table())
            ? ReadPaths.of(metadata.table())
            : names().orElseThrow().place(metadata.table()),
        metadata.view(),
        choice));
  }

  private boolean isTaken(ReadPaths path) {
    return SparkErrors.planned(() -> isTaken(path.datasets().get(0)));
  }

  /** Tells whether a table cannot be created at a path, because something is there. */
  protected boolean isTaken(DatasetPath dataset) {
    return dataset.exists();
  }

  @Override
  public final Table create(Identifier identifier, NewTable table)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    StagedTable staged = stageCreate(identifier, table);
    try {
      staged.commitStagedChanges();
    } catch (Exception e) {
      if (e.getCause() instanceof DatasetExistsException) {
        // Of two programs that create the table at once, IF NOT EXISTS is true for the second.
        throw new TableAlreadyExistsException(identifier);
      }
      throw e;
    }
    return SparkErrors.planned(() -> ZRecordTables.loadStrict(requireOne(identifier)));
  }

  @Override
  public final StagedTable stageCreate(Identifier identifier, NewTable table)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    ReadPaths path = requireOne(identifier);
    PartitionColumns partitioned = SparkErrors.planned(
        () -> PartitionColumns.of(table.partitions().toArray(Transform[]::new)));
    if (isTaken(path)) {
      throw new TableAlreadyExistsException(identifier);
    }
    requireCreatable(identifier);
    return stage(
        path,
        table,
        dataset -> WriteTarget.at(dataset, Optional.empty(), WriteTarget.Creation.CREATE)
            .partitionedBy(partitioned));
  }

  @Override
  public final StagedTable stageReplace(Identifier identifier, NewTable table)
      throws NoSuchTableException, NoSuchNamespaceException {
    if (!tableExists(identifier)) {
      throw identifiesPaths(identifier) || names().isEmpty()
          ? new NoSuchDatasetException(identifier)
          : new NoSuchTableException(identifier);
    }
    return stageCreateOrReplace(identifier, table);
  }

  @Override
  public final StagedTable stageCreateOrReplace(Identifier identifier, NewTable table)
      throws NoSuchNamespaceException {
    ReadPaths path = requireOne(identifier);
    PartitionColumns partitioned = SparkErrors.planned(
        () -> PartitionColumns.of(table.partitions().toArray(Transform[]::new)));
    requireCreatable(identifier);
    return stage(
        path,
        table,
        dataset -> WriteTarget.at(dataset, dataset.newest(), WriteTarget.Creation.REPLACE)
            .partitionedBy(partitioned));
  }

  /**
   * Changes columns and properties by one commit, which touches no shard. Returns null, because
   * loading the table may fail although the change was committed, and Spark does not look.
   */
  @Override
  public final @Nullable Table alterTable(
      Identifier identifier, org.apache.spark.sql.connector.catalog.TableChange... changes)
      throws NoSuchTableException {
    if (!tableExists(identifier)) {
      throw new NoSuchTableException(identifier);
    }
    ReadPaths place = requireOne(identifier);
    VersionSelector.requireNewest("alter " + place);
    SparkErrors.done(() -> TableAlteration.commit(place, changes));
    return null;
  }

  @Override
  public final boolean dropTable(Identifier identifier) {
    return drop(identifier, DropOptions.Leftovers.KEPT);
  }

  /** Drops a table, and deletes files that a write has left behind more than an hour ago. */
  @Override
  public final boolean purgeTable(Identifier identifier) {
    return drop(identifier, DropOptions.Leftovers.SWEPT);
  }

  private boolean drop(Identifier identifier, DropOptions.Leftovers leftovers) {
    if (identifiesPaths(identifier)) {
      throw Unsupported.operation(
          "dropping a dataset that is named by its path",
          "call bin/zrecord drop " + identifier.name() + " if you are sure");
    }
    boolean isDropped = names()
        .flatMap(known -> known.find(identifier))
        .map(place -> SparkErrors.planned(() -> place.datasets().get(0).drop(leftovers)))
        .orElse(false);
    if (!isDropped) {
      refuseMetadata(identifier);
    }
    return isDropped;
  }

  @Override
  public final void renameTable(Identifier from, Identifier to) {
    refuseMetadata(from);
    throw Unsupported.operation(
        "renaming a dataset, whose place is its name",
        identifiesPaths(from)
            ? "move its directory"
            : "create " + to + " as select, or keep tables that are renamed in the session's"
                + " catalog");
  }

  /**
   * Loads a table by its name.
   *
   * @throws NoSuchTableException if there is no table
   */
  protected final ZRecordTable named(Identifier identifier, Function<ReadPaths, ZRecordTable> load)
      throws NoSuchTableException {
    ReadPaths place = requireNames(identifier)
        .find(identifier)
        .orElseThrow(() -> new NoSuchTableException(identifier));
    Optional<ZRecordTable> found = SparkErrors.planned(() -> {
      try {
        return Optional.of(load.apply(place));
      } catch (NotADatasetException e) {
        return Optional.empty();
      }
    });
    return found.orElseThrow(() -> new NoSuchTableException(identifier));
  }

  private void requireCreatable(Identifier identifier) throws NoSuchNamespaceException {
    if (!identifiesPaths(identifier) && names().isPresent()) {
      names().get().requireCreatable(identifier);
    }
  }

  private Table load(Identifier identifier, TimeTravel time) throws NoSuchTableException {
    Optional<MetadataName> metadata = metadata(identifier);
    if (metadata.isPresent()) {
      return load(metadata.get(), VersionChoice.named(time));
    }
    if (!identifiesPaths(identifier)) {
      return named(
          identifier,
          place ->
              time.isNewest() ? ZRecordTables.loadPinned(place) : ZRecordTables.load(place, time));
    }
    return SparkErrors.planned(() -> {
      ReadPaths paths = ReadPaths.of(identifier);
      Optional<ViewName> view = PathIdentifiers.view(identifier);
      Optional<ChangesConf> changes = PathIdentifiers.changes(identifier);
      if (changes.isPresent()) {
        return ChangesTable.of(paths, changes.get());
      }
      return view.isPresent()
          ? MetadataTable.load(paths, view.get(), VersionChoice.named(time))
          : time.isNewest() && PathIdentifiers.isPlain(identifier)
              ? ZRecordTables.loadPinned(paths)
              : ZRecordTables.load(paths, time);
    });
  }

  /**
   * Refuses a metadata table, and changes, that an option names. Spark asks whether a table exists,
   * and for a path alone, only when it is going to write.
   */
  private static void refuseView(Identifier identifier) {
    PathIdentifiers.view(identifier).ifPresent(view -> {
      throw Unsupported.operation(
          "writing to the metadata table " + view + " of " + identifier.name(),
          "leave the option " + ZRecordOptions.VIEW + " out");
    });
    PathIdentifiers.changesOfStatement(identifier).ifPresent(changes -> {
      throw Unsupported.operation(
          "writing to the changes of " + identifier.name() + " from " + changes.from() + " on",
          "leave the options " + ZRecordOptions.CHANGES_FROM + " and "
              + ZRecordOptions.CHANGES_FROM_TIMESTAMP + " out");
    });
  }

  /** Refuses to change a metadata table. */
  protected final void refuseMetadata(Identifier identifier) {
    metadata(identifier).ifPresent(metadata -> {
      throw metadata.refusal();
    });
  }

  /** Tells whether this catalog takes the identifier as one or several paths. */
  protected abstract boolean identifiesPaths(Identifier identifier);

  /** Returns the one path to write, which is never a pattern. */
  protected final ReadPaths requireOne(Identifier identifier) {
    boolean isPath = identifiesPaths(identifier);
    refuseMetadata(identifier);
    if (!isPath && names().isPresent()) {
      return names().get().place(identifier);
    }
    refuseView(identifier);
    if (!isPath || PathIdentifiers.paths(identifier).size() != 1) {
      throw new IllegalArgumentException("Cannot write to " + identifier
          + ": use one path, such as " + ZRecordOptions.FORMAT + ".`/data/train`");
    }
    return ReadPaths.literal(
        PathIdentifiers.paths(identifier).get(0), PathIdentifiers.settings(identifier));
  }

  private static StagedTable stage(
      ReadPaths path, NewTable table, Function<DatasetPath, WriteTarget> target) {
    return SparkErrors.planned(() -> {
      TableDefinition definition = TableDefinition.of(path, table);
      return new ZRecordStagedTable(
          path,
          table.columns(),
          target
              .apply(path.datasets().get(0))
              .declaring(definition::declared)
              .withProperties(definition.described().properties()),
          definition.options());
    });
  }

  /**
   * Returns the changes of a table. No {@code @Override}: new in Spark 4.2.
   *
   * @throws NoSuchTableException if there is no table
   */
  public Changelog loadChangelog(
      Identifier identifier, ChangelogContext context, CaseInsensitiveStringMap options)
      throws NoSuchTableException {
    return ZRecordTables.changesOf(identifier, loadTable(identifier), context);
  }
}
