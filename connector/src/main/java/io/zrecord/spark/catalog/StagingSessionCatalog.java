package io.zrecord.spark.catalog;

import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.spark.column.ColumnMetadata;
import io.zrecord.spark.ddl.NewTable;
import io.zrecord.spark.ddl.NumberedColumn;
import io.zrecord.spark.metadata.MetadataTable;
import io.zrecord.spark.options.CatalogOptions;
import io.zrecord.spark.options.StorageSettings;
import io.zrecord.spark.options.TableProperties;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.options.VersionChoice;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.partition.PartitionColumns;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.Reloads;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.write.WriteTarget;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.connector.catalog.CatalogV2Util;
import org.apache.spark.sql.connector.catalog.Changelog;
import org.apache.spark.sql.connector.catalog.ChangelogContext;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.DelegatingCatalogExtension;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.catalog.TableWritePrivilege;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Keeps zrecord tables in Spark's session catalog and passes all other tables on to it. A query
 * that creates or replaces a zrecord table publishes its data in one commit and writes the entry
 * afterwards. If the query fails, everything stays as it was before.
 */
@SuppressWarnings("deprecation") // Every release has the forms with a StructType.
public abstract class StagingSessionCatalog extends DelegatingCatalogExtension
    implements UnnumberedTables {
  private static final Set<String> RESERVED = Set.of(
      TableCatalog.PROP_PROVIDER,
      TableCatalog.PROP_OWNER,
      TableCatalog.PROP_LOCATION,
      TableCatalog.PROP_EXTERNAL,
      TableCatalog.PROP_IS_MANAGED_LOCATION);

  private final EntryCare care = new EntryCare(this::name, super::loadTable, super::alterTable);

  /** Refuses options, which Spark takes from {@code spark.sql.catalog.spark_catalog.<option>}. */
  @Override
  public final void initialize(String catalogName, CaseInsensitiveStringMap options) {
    CatalogOptions.requireNone(catalogName, options);
    super.initialize(catalogName, options);
  }

  // Loading.

  @Override
  public final Table loadTable(Identifier identifier) throws NoSuchTableException {
    Table refreshed = Reloads.refreshed(name(), identifier);
    if (refreshed != null) {
      return refreshed;
    }
    Optional<Metadata> metadata = metadata(identifier);
    if (metadata.isPresent()) {
      return metadata.get().load(VersionChoice.byDefault(VersionChoice.ofSession()));
    }
    Table table = super.loadTable(identifier);
    return SessionEntry.of(name(), identifier, table)
        .map(entry -> care.sound(identifier, entry))
        .<Table>map(entry -> DeclaredTable.of(entry).loadedAs(name(), identifier))
        .orElse(table);
  }

  @Override
  public final Table loadTable(Identifier identifier, Set<TableWritePrivilege> privileges)
      throws NoSuchTableException {
    refuseMetadata(identifier);
    Table table = super.loadTable(identifier);
    return SessionEntry.of(name(), identifier, table)
        .map(entry -> care.sound(identifier, entry))
        .<Table>map(DeclaredTable::forWriting)
        .orElse(table);
  }

  @Override
  public final Table loadTable(Identifier identifier, String version) throws NoSuchTableException {
    Optional<Metadata> metadata = metadata(identifier);
    if (metadata.isPresent()) {
      return metadata.get().load(VersionChoice.named(TimeTravel.of(version)));
    }
    Optional<SessionEntry> entry = entry(identifier);
    return entry.isPresent()
        ? SparkErrors.planned(() -> DeclaredTable.at(entry.get(), TimeTravel.of(version)))
        : super.loadTable(identifier, version);
  }

  /** Loads a table as it was at a time, in microseconds since 1970. */
  @Override
  public final Table loadTable(Identifier identifier, long timestampMicros)
      throws NoSuchTableException {
    Optional<Metadata> metadata = metadata(identifier);
    if (metadata.isPresent()) {
      return metadata.get().load(VersionChoice.named(TimeTravel.atMicros(timestampMicros)));
    }
    Optional<SessionEntry> entry = entry(identifier);
    return entry.isPresent()
        ? SparkErrors.planned(
            () -> DeclaredTable.at(entry.get(), TimeTravel.atMicros(timestampMicros)))
        : super.loadTable(identifier, timestampMicros);
  }

  private Optional<SessionEntry> entry(Identifier identifier) throws NoSuchTableException {
    return SessionEntry.of(name(), identifier, super.loadTable(identifier))
        .map(entry -> care.sound(identifier, entry));
  }

  private Optional<Table> existing(Identifier identifier) {
    try {
      return super.tableExists(identifier)
          ? Optional.of(super.loadTable(identifier))
          : Optional.empty();
    } catch (NoSuchTableException e) {
      return Optional.empty();
    }
  }

  // Metadata tables, whose names have one part more than those of tables.

  /** A metadata table of a table that is zrecord's. */
  private record Metadata(MetadataName name, SessionEntry entry) {
    Table load(VersionChoice choice) {
      return SparkErrors.planned(() -> {
        StorageSettings.refuseToKeep(entry.options());
        return MetadataTable.loadDeclared(
            ReadPaths.ofTable(entry.name(), entry.location(), Map.of()), name.view(), choice);
      });
    }
  }

  private Optional<Metadata> metadata(Identifier identifier) {
    return MetadataName.of(identifier)
        .filter(name -> name.table().namespace().length == 1)
        .flatMap(name -> existing(name.table())
            .flatMap(table -> SessionEntry.of(name(), name.table(), table))
            .map(entry -> new Metadata(name, care.sound(name.table(), entry))));
  }

  private void refuseMetadata(Identifier identifier) {
    metadata(identifier).ifPresent(metadata -> {
      throw metadata.name().refusal();
    });
  }

  @Override
  public final boolean tableExists(Identifier identifier) {
    return metadata(identifier).isPresent() || super.tableExists(identifier);
  }

  // Creating without a query.

  @Override
  public final Table createTable(
      Identifier identifier,
      Column[] columns,
      Transform[] partitions,
      Map<String, String> properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    refuseMetadata(identifier);
    NumberedColumn.requireNone(quoted(identifier), columns);
    return SessionEntry.isZRecord(properties)
        ? createTable(
            identifier, CatalogV2Util.v2ColumnsToStructType(columns), partitions, properties)
        : super.createTable(identifier, columns, partitions, properties);
  }

  @Override
  public final Table createTable(
      Identifier identifier,
      StructType schema,
      Transform[] partitions,
      Map<String, String> properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    refuseMetadata(identifier);
    if (!SessionEntry.isZRecord(properties)) {
      return super.createTable(identifier, schema, partitions, properties);
    }
    PartitionColumns partitioned = SparkErrors.planned(() -> PartitionColumns.of(partitions));
    StructType columns = SparkErrors.planned(() -> {
      StructType known = columns(identifier, schema, partitioned, properties);
      new Declaration(known).requireStorable(quoted(identifier));
      return known;
    });
    requireOptions(properties);
    requireProperties(identifier, properties);
    requireUntaken(identifier, location(identifier, properties));
    if (partitioned.isEmpty() || isThere(location(identifier, properties))) {
      createEntry(identifier, columns, properties);
    } else {
      // The dataset says how it is partitioned, so it is made now, and not by the first write.
      if (tableExists(identifier)) {
        throw new TableAlreadyExistsException(identifier);
      }
      WriteTarget.Creation creation = WriteTarget.Creation.CREATE;
      SparkErrors.planned(() -> stageNew(identifier, columns, partitioned, properties, creation))
          .commitStagedChanges();
    }
    try {
      return loadTable(identifier);
    } catch (NoSuchTableException e) {
      throw new IllegalStateException(quoted(identifier) + " was dropped by somebody else", e);
    }
  }

  /**
   * Creates a table like another one, as Spark 4.2 and later ask for. A copy of a table of zrecord
   * is one as well.
   */
  public final Table createTableLike(Identifier identifier, TableInfo table, Table source)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    Map<String, String> properties = new HashMap<>(table.properties());
    if (source instanceof ZRecordTable) {
      properties.putIfAbsent(TableCatalog.PROP_PROVIDER, ZRecordOptions.FORMAT);
    }
    if (!SessionEntry.isZRecord(properties)) {
      throw Unsupported.operation(
          "creating " + quoted(identifier) + " like a table of another catalog",
          "add USING " + ZRecordOptions.FORMAT + " before the other clauses");
    }
    boolean isNumbered = source instanceof ZRecordTable known
        && known
            .onlyVersion()
            .filter(v -> !v.declarations().identities().isEmpty())
            .isPresent();
    if (isNumbered || table.constraints().length > 0) {
      throw Unsupported.operation(
          "creating " + quoted(identifier) + " like a table with "
              + (isNumbered ? "numbered columns" : "constraints"),
          "create the table in a catalog with a warehouse");
    }
    NewTable said = NewTables.like(table, source);
    properties.putAll(said.properties());
    return createTable(identifier, said.columns(), table.partitions(), properties);
  }

  /**
   * Writes the entry of a table without data. Spark refuses a managed table whose directory has a
   * file. One file is no hindrance: the manifest that a creation left which was taken back.
   */
  private void createEntry(
      Identifier identifier, StructType columns, Map<String, String> properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    try {
      super.createTable(identifier, columns, new Transform[0], properties);
    } catch (RuntimeException e) {
      String path = Metastore.defaultLocation(identifier);
      if (location(identifier, properties).isPresent()
          || !SparkErrors.planned(() -> DatasetPath.of(path).isRetracted())) {
        throw e;
      }
      registerRetracted(identifier, columns, path, properties);
    }
  }

  private void registerRetracted(
      Identifier identifier, StructType columns, String path, Map<String, String> properties) {
    try {
      register(identifier, columns, path, true, properties);
    } catch (AnalysisException e) {
      throw new IllegalStateException(
          "Cannot create " + quoted(identifier) + ": " + e.getMessage(), e);
    }
  }

  /** Tells whether there is a dataset at a location, if one is given. */
  private static boolean isThere(Optional<String> location) {
    return location.isPresent()
        && SparkErrors.planned(() -> DatasetPath.of(location.get()).exists());
  }

  /** Returns the declared columns, or the columns of the dataset if none are declared. */
  private StructType columns(
      Identifier identifier,
      StructType declared,
      PartitionColumns partitions,
      Map<String, String> properties) {
    Optional<String> location = location(identifier, properties);
    if (isThere(location)) {
      ZRecordTable table = ZRecordTables.loadStrict(ReadPaths.literal(location.get()));
      partitions.requireAgreement(location.get(), PartitionColumns.of(table.partitioning()));
      StructType found = Declaration.plain(table.schema());
      Optional<String> mismatch = new Declaration(declared).mismatch(found);
      if (mismatch.isPresent()) {
        throw new SchemaMismatchException(
            location.get(),
            "Cannot create " + quoted(identifier) + " at " + location.get() + ": " + mismatch.get()
                + "; declare those, or no columns");
      }
      return declared.length() == 0 ? found : declared;
    }
    if (declared.length() == 0) {
      String cannot = "Cannot create " + quoted(identifier) + " without columns";
      String remedy = "; declare columns, or give the LOCATION of a dataset";
      if (location.isPresent()) {
        throw new NotADatasetException(
            location.get(), cannot + ": there is no dataset at " + location.get() + remedy);
      }
      throw new IllegalArgumentException(cannot + remedy);
    }
    return declared;
  }

  // Creating and replacing with a query.

  @Override
  public final StagedTable stageCreate(
      Identifier identifier,
      StructType schema,
      Transform[] partitions,
      Map<String, String> properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    refuseMetadata(identifier);
    if (!SessionEntry.isZRecord(properties)) {
      return foreign(identifier, schema, partitions, properties);
    }
    if (tableExists(identifier)) {
      throw new TableAlreadyExistsException(identifier);
    }
    return SparkErrors.planned(() -> stageNew(
        identifier,
        schema,
        PartitionColumns.of(partitions),
        properties,
        WriteTarget.Creation.CREATE));
  }

  @Override
  public final StagedTable stageReplace(
      Identifier identifier,
      StructType schema,
      Transform[] partitions,
      Map<String, String> properties)
      throws NoSuchNamespaceException, NoSuchTableException {
    if (!tableExists(identifier)) {
      throw new NoSuchTableException(identifier);
    }
    return stageCreateOrReplace(identifier, schema, partitions, properties);
  }

  @Override
  public final StagedTable stageCreateOrReplace(
      Identifier identifier,
      StructType schema,
      Transform[] partitions,
      Map<String, String> properties)
      throws NoSuchNamespaceException {
    refuseMetadata(identifier);
    Optional<Table> existing = existing(identifier);
    Optional<SessionEntry> entry = existing
        .flatMap(table -> SessionEntry.of(name(), identifier, table))
        .map(found -> care.sound(identifier, found));
    boolean becomesZRecord = SessionEntry.isZRecord(properties);
    if (existing.isPresent() && becomesZRecord != entry.isPresent()) {
      throw new IllegalArgumentException("Cannot replace " + quoted(identifier) + ", whose data"
          + " source is " + existing.get().properties().get(TableCatalog.PROP_PROVIDER)
          + ", by a table of another data source; drop the table first");
    }
    if (!becomesZRecord && existing.isPresent()) {
      // Dropping it first would lose its rows if the query fails.
      throw Unsupported.operation(
          "replacing " + quoted(identifier) + ", which is of another data source,"
              + " through ZRecordSessionCatalog",
          "drop the table and create it again, or run the statement in a session without"
              + " spark.sql.catalog.spark_catalog");
    }
    if (!becomesZRecord) {
      return createForeign(identifier, schema, partitions, properties);
    }
    return SparkErrors.planned(() -> {
      PartitionColumns partitioned = PartitionColumns.of(partitions);
      return entry.isPresent()
          ? stageReplacement(identifier, entry.get(), schema, partitioned, properties)
          : stageNew(identifier, schema, partitioned, properties, WriteTarget.Creation.REPLACE);
    });
  }

  private StagedTable stageNew(
      Identifier identifier,
      StructType schema,
      PartitionColumns partitions,
      Map<String, String> properties,
      WriteTarget.Creation creation) {
    new Declaration(schema).requireStorable(quoted(identifier));
    requireProperties(identifier, properties);
    Optional<String> given = location(identifier, properties);
    String path = given.orElseGet(() -> Metastore.defaultLocation(identifier));
    DatasetPath dataset = DatasetPath.of(path);
    if (dataset.exists() && (given.isEmpty() || creation == WriteTarget.Creation.CREATE)) {
      throw new IllegalArgumentException(DatasetsInTheWay.message(quoted(identifier), path));
    }
    requireUntaken(identifier, given);
    if (given.isEmpty() && dataset.hasOtherFiles()) {
      throw new IllegalArgumentException("Cannot create " + quoted(identifier) + ": its directory "
          + path + " has other files, which dropping the table would delete; move them, or give the"
          + " LOCATION of another directory");
    }
    return new SessionStagedTable(new SessionStagedTable.Staging(
        quoted(identifier),
        dataset,
        schema,
        WriteTarget.at(dataset, dataset.newest(), creation)
            .partitionedBy(partitions)
            .withProperties(properties),
        requireOptions(properties),
        () -> register(
            identifier,
            ColumnMetadata.withoutApplications(schema),
            path,
            given.isEmpty(),
            properties)));
  }

  /** Refuses the location of an external table that is another table's to delete. */
  private void requireUntaken(Identifier identifier, Optional<String> location) {
    location.ifPresent(place -> EntryCare.requireUntaken(
        identifier, "create " + quoted(identifier) + " at " + place, place, false));
  }

  private void register(
      Identifier identifier,
      StructType schema,
      String path,
      boolean isManaged,
      Map<String, String> properties)
      throws AnalysisException {
    Map<String, String> all = new HashMap<>(properties);
    all.put(TableCatalog.PROP_LOCATION, path);
    super.createTable(identifier, schema, new Transform[0], all);
    if (isManaged) {
      makeManaged(identifier);
    }
    invalidateTable(identifier);
  }

  /** Makes an entry managed, or removes the entry, whose files stay until then. */
  private void makeManaged(Identifier identifier) throws AnalysisException {
    try {
      Optional<SessionEntry> entry = care.written(identifier);
      if (entry.isPresent()) {
        care.forgetLocation(identifier, entry.get());
      }
      Metastore.makeManaged(identifier);
    } catch (AnalysisException | RuntimeException e) {
      try {
        super.dropTable(identifier);
      } catch (RuntimeException dropping) {
        e.addSuppressed(dropping);
      }
      throw e;
    }
  }

  private StagedTable stageReplacement(
      Identifier identifier,
      SessionEntry entry,
      StructType schema,
      PartitionColumns partitions,
      Map<String, String> properties) {
    new Declaration(schema).requireStorable(entry.name());
    requireProperties(identifier, properties);
    DatasetPath dataset = DatasetPath.of(entry.location());
    Optional<String> given = location(identifier, properties);
    if (given.isPresent() && !DatasetPath.of(given.get()).isSamePlaceAs(dataset)) {
      throw new IllegalArgumentException("Cannot replace " + entry.name() + " at "
          + entry.location() + " by a table at " + given.get()
          + "; leave LOCATION out, or drop the table first");
    }
    Map<String, String> options = requireOptions(properties);
    if (!options.isEmpty() && !options.equals(WriteConf.writeOptionsAmong(entry.options()))) {
      throw new IllegalArgumentException("Cannot replace " + entry.name() + " with the OPTIONS "
          + options + ", as the table has " + WriteConf.writeOptionsAmong(entry.options())
          + "; leave OPTIONS out, or drop the table first");
    }
    return new SessionStagedTable(new SessionStagedTable.Staging(
        entry.name(),
        dataset,
        schema,
        WriteTarget.at(dataset, dataset.newest(), WriteTarget.Creation.REPLACE)
            .partitionedBy(partitions)
            .withProperties(properties),
        WriteConf.writeOptionsAmong(entry.options()),
        () -> change(identifier, entry, ColumnMetadata.withoutApplications(schema), properties)));
  }

  private void change(
      Identifier identifier, SessionEntry entry, StructType schema, Map<String, String> properties)
      throws AnalysisException {
    List<TableChange> changes = new ArrayList<>();
    entry.properties().keySet().stream()
        .filter(key -> isOfUsers(key) && !properties.containsKey(key))
        .forEach(key -> changes.add(TableChange.removeProperty(key)));
    properties.forEach((key, value) -> {
      if (isOfUsers(key)
          && !properties.containsKey(TableCatalog.OPTION_PREFIX + key)
          && !value.equals(entry.properties().get(key))) {
        changes.add(TableChange.setProperty(key, value));
      }
    });
    if (!changes.isEmpty()) {
      care.alter(identifier, entry, changes);
    }
    if (!schema.equals(entry.declaration().columns())) {
      Metastore.setColumns(identifier, schema);
    }
    invalidateTable(identifier);
  }

  private static boolean isOfUsers(String key) {
    return !RESERVED.contains(key) && !key.startsWith(TableCatalog.OPTION_PREFIX);
  }

  // Tables of other data sources.

  private StagedTable foreign(
      Identifier identifier,
      StructType schema,
      Transform[] partitions,
      Map<String, String> properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    super.createTable(identifier, schema, partitions, properties);
    try {
      return new ForeignStagedTable(super.loadTable(identifier), () -> dropTable(identifier));
    } catch (NoSuchTableException e) {
      throw new IllegalStateException(quoted(identifier) + " was dropped by somebody else", e);
    }
  }

  private StagedTable createForeign(
      Identifier identifier,
      StructType schema,
      Transform[] partitions,
      Map<String, String> properties)
      throws NoSuchNamespaceException {
    try {
      return foreign(identifier, schema, partitions, properties);
    } catch (TableAlreadyExistsException e) {
      throw new IllegalStateException(quoted(identifier) + " was created by somebody else", e);
    }
  }

  // Changing.

  @Override
  public final Table alterTable(Identifier identifier, TableChange... changes)
      throws NoSuchTableException {
    refuseMetadata(identifier);
    Optional<SessionEntry> entry = entry(identifier);
    if (entry.isEmpty()) {
      return super.alterTable(identifier, changes);
    }
    ColumnChanges.require(DeclaredTable.of(entry.get()), changes);
    for (TableChange change : changes) {
      // New in Spark 4.0. The metastore keeps what the change says, and no write obeys.
      if (change.getClass().getSimpleName().equals("ClusterBy")) {
        throw Unsupported.operation(
            "CLUSTER BY for " + entry.get().name(),
            "reorder the records by a relayout, or partition the table");
      }
      if (change instanceof TableChange.SetProperty set && !RESERVED.contains(set.property())) {
        TableProperties.requireKeptByEntry(
            entry.get().name(), entry.get().location(), set.property(), set.value());
      }
    }
    care.alter(identifier, entry.get(), List.of(changes));
    return loadTable(identifier);
  }

  @Override
  public final void renameTable(Identifier from, Identifier to)
      throws NoSuchTableException, TableAlreadyExistsException {
    refuseMetadata(from);
    care.settle(from, "rename");
    super.renameTable(from, to);
  }

  @Override
  public final boolean dropTable(Identifier identifier) {
    refuseMetadata(identifier);
    care.settle(identifier, "drop");
    return super.dropTable(identifier);
  }

  @Override
  public final boolean purgeTable(Identifier identifier) {
    refuseMetadata(identifier);
    care.settle(identifier, "drop");
    return super.purgeTable(identifier);
  }

  private String quoted(Identifier identifier) {
    return SessionEntry.quoted(name(), identifier);
  }

  private static Optional<String> location(Identifier identifier, Map<String, String> properties) {
    String location = properties.get(TableCatalog.PROP_LOCATION);
    String path = location == null
        ? new CaseInsensitiveStringMap(SessionEntry.options(properties)).get(ZRecordOptions.PATH)
        : location;
    return Optional.ofNullable(path).map(text -> Metastore.absolute(text, identifier));
  }

  /** Refuses properties that a statement gives to a table and that would have no effect. */
  private void requireProperties(Identifier identifier, Map<String, String> properties) {
    String place =
        location(identifier, properties).orElseGet(() -> Metastore.defaultLocation(identifier));
    properties.forEach((key, value) -> {
      if (isOfUsers(key) && !properties.containsKey(TableCatalog.OPTION_PREFIX + key)) {
        TableProperties.requireKeptByEntry(quoted(identifier), place, key, value);
      }
    });
  }

  /** Returns the OPTIONS of a statement, which are options of every write of the table. */
  private static Map<String, String> requireOptions(Map<String, String> properties) {
    Map<String, String> options = SessionEntry.options(properties);
    WriteConf.requireValid(options);
    return WriteConf.writeOptionsAmong(options);
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
