package io.zrecord.spark.catalog;

import io.zrecord.errors.DatasetExistsException;
import io.zrecord.spark.ddl.NewTable;
import io.zrecord.spark.ddl.NumberedColumn;
import io.zrecord.spark.ddl.SparkFeatures;
import io.zrecord.spark.ddl.TableAlteration;
import io.zrecord.spark.metadata.MetadataTable;
import io.zrecord.spark.options.CatalogOptions;
import io.zrecord.spark.options.StorageSettings;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.options.VersionChoice;
import io.zrecord.spark.options.VersionSelector;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.Reloads;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.write.WriteTarget;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.TableAlreadyExistsException;
import org.apache.spark.sql.connector.catalog.Changelog;
import org.apache.spark.sql.connector.catalog.ChangelogContext;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.DelegatingCatalogExtension;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableCatalogCapability;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.catalog.TableInfo;
import org.apache.spark.sql.connector.catalog.TableWritePrivilege;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.jspecify.annotations.Nullable;

/**
 * Keeps zrecord tables in Spark's session catalog and passes all other tables on to it. The dataset
 * says what a table is, and the entry of the catalog where the dataset is. A statement that creates
 * or replaces a zrecord table publishes its dataset in one commit and writes the entry afterwards.
 * If the statement fails, everything stays as it was before.
 */
@SuppressWarnings("deprecation") // Every release has the forms with a StructType.
public abstract class StagingSessionCatalog extends DelegatingCatalogExtension
    implements NewTables {
  private final Entries entries = new SparksEntries();
  private final EntryCare care = new EntryCare(entries);

  /** The entries as Spark's own catalog keeps them. */
  private final class SparksEntries implements Entries {
    @Override
    public String catalog() {
      return name();
    }

    @Override
    public Table load(Identifier identifier) throws NoSuchTableException {
      return StagingSessionCatalog.super.loadTable(identifier);
    }

    @Override
    public void create(Identifier identifier, StructType columns, Map<String, String> properties)
        throws TableAlreadyExistsException, NoSuchNamespaceException {
      StagingSessionCatalog.super.createTable(identifier, columns, new Transform[0], properties);
    }

    @Override
    public void alter(Identifier identifier, TableChange... changes) throws NoSuchTableException {
      StagingSessionCatalog.super.alterTable(identifier, changes);
    }

    @Override
    public boolean drop(Identifier identifier) {
      return StagingSessionCatalog.super.dropTable(identifier);
    }

    @Override
    public void invalidate(Identifier identifier) {
      invalidateTable(identifier);
    }
  }

  /** Refuses options, which Spark takes from {@code spark.sql.catalog.spark_catalog.<option>}. */
  @Override
  public final void initialize(String catalogName, CaseInsensitiveStringMap options) {
    CatalogOptions.requireNone(catalogName, options);
    super.initialize(catalogName, options);
  }

  /** Returns what Spark's own catalog keeps of a definition, and what datasets do. */
  @Override
  public final Set<TableCatalogCapability> capabilities() {
    Set<TableCatalogCapability> capabilities = EnumSet.noneOf(TableCatalogCapability.class);
    capabilities.addAll(super.capabilities());
    capabilities.addAll(SparkFeatures.capabilities());
    return capabilities;
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
        .<Table>map(entry ->
            SparkErrors.planned(() -> SessionTable.load(entry)).loadedAs(name(), identifier))
        .orElse(table);
  }

  @Override
  public final Table loadTable(Identifier identifier, Set<TableWritePrivilege> privileges)
      throws NoSuchTableException {
    refuseMetadata(identifier);
    Table table = super.loadTable(identifier);
    return SessionEntry.of(name(), identifier, table)
        .map(entry -> care.sound(identifier, entry))
        .<Table>map(entry -> SparkErrors.planned(() -> SessionTable.loadForWriting(entry)))
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
        ? at(entry.get(), TimeTravel.of(version))
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
        ? at(entry.get(), TimeTravel.atMicros(timestampMicros))
        : super.loadTable(identifier, timestampMicros);
  }

  private static Table at(SessionEntry entry, TimeTravel time) {
    return SparkErrors.planned(() -> ZRecordTables.load(SessionTable.paths(entry), time));
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
        return MetadataTable.loadDeclared(SessionTable.paths(entry), name.view(), choice);
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
    if (SessionEntry.isZRecord(properties)) {
      return create(identifier, NewTable.of(columns, partitions, properties));
    }
    NumberedColumn.requireNone(quoted(identifier), columns);
    return super.createTable(identifier, columns, partitions, properties);
  }

  @Override
  public final Table createTable(
      Identifier identifier,
      StructType schema,
      Transform[] partitions,
      Map<String, String> properties)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    refuseMetadata(identifier);
    return SessionEntry.isZRecord(properties)
        ? create(identifier, NewTable.of(schema, partitions, properties))
        : super.createTable(identifier, schema, partitions, properties);
  }

  @Override
  public final Table createTable(Identifier identifier, TableInfo table)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    refuseMetadata(identifier);
    if (SessionEntry.isZRecord(table.properties())) {
      return create(identifier, NewTable.of(table));
    }
    requireForeign(identifier, NewTable.of(table));
    return createTable(identifier, table.columns(), table.partitions(), table.properties());
  }

  /**
   * Creates a table like another one, as Spark 4.2 and later ask for. A copy of a table of zrecord
   * is one as well.
   */
  @Override
  public final Table createTableLike(Identifier identifier, TableInfo table, Table source)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    refuseMetadata(identifier);
    Map<String, String> properties = new HashMap<>(table.properties());
    if (source instanceof ZRecordTable) {
      properties.putIfAbsent(TableCatalog.PROP_PROVIDER, ZRecordOptions.FORMAT);
    }
    if (!SessionEntry.isZRecord(properties)) {
      throw Unsupported.operation(
          "creating " + quoted(identifier) + " like a table of another catalog",
          "add USING " + ZRecordOptions.FORMAT + " before the other clauses");
    }
    return create(identifier, NewTables.like(table, source));
  }

  /** Creates a zrecord table. */
  @Override
  public final Table create(Identifier identifier, NewTable said)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    requireFree(identifier);
    SessionCreation creation = creation(identifier, said);
    try {
      SparkErrors.planned(creation::createEmpty).register();
      return loadTable(identifier, EnumSet.noneOf(TableWritePrivilege.class));
    } catch (AnalysisException e) {
      if (e.getCause() instanceof DatasetExistsException && tableExists(identifier)) {
        // Of two programs that create the table at once, IF NOT EXISTS is true for the second.
        throw new TableAlreadyExistsException(identifier);
      }
      throw SparkErrors.thrown(e);
    }
  }

  private SessionCreation creation(Identifier identifier, NewTable said) {
    return SparkErrors.planned(() -> new SessionCreation(entries, care, identifier, said));
  }

  private void requireFree(Identifier identifier)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    if (identifier.namespace().length > 0 && !namespaceExists(identifier.namespace())) {
      throw new NoSuchNamespaceException(identifier.namespace());
    }
    if (tableExists(identifier)) {
      throw new TableAlreadyExistsException(identifier);
    }
  }

  // Creating and replacing with a query.

  @Override
  public final StagedTable stageCreate(Identifier identifier, NewTable said)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    refuseMetadata(identifier);
    if (!SessionEntry.isZRecord(said.properties())) {
      return foreign(identifier, said);
    }
    requireFree(identifier);
    SessionCreation creation = creation(identifier, said);
    return SparkErrors.planned(() -> creation.create(WriteTarget.Creation.CREATE));
  }

  @Override
  public final StagedTable stageReplace(Identifier identifier, NewTable said)
      throws NoSuchNamespaceException, NoSuchTableException {
    if (!tableExists(identifier)) {
      throw new NoSuchTableException(identifier);
    }
    return stageCreateOrReplace(identifier, said);
  }

  @Override
  public final StagedTable stageCreateOrReplace(Identifier identifier, NewTable said)
      throws NoSuchNamespaceException {
    refuseMetadata(identifier);
    Optional<Table> existing = existing(identifier);
    Optional<SessionEntry> entry = existing
        .flatMap(table -> SessionEntry.of(name(), identifier, table))
        .map(found -> care.sound(identifier, found));
    boolean becomesZRecord = SessionEntry.isZRecord(said.properties());
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
      return createForeign(identifier, said);
    }
    SessionCreation creation = creation(identifier, said);
    return SparkErrors.planned(() -> entry.isPresent()
        ? creation.replace(entry.get())
        : creation.create(WriteTarget.Creation.REPLACE));
  }

  // Tables of other data sources.

  /** Refuses what Spark's own catalog would forget. */
  private void requireForeign(Identifier identifier, NewTable said) {
    if (!said.constraints().isEmpty()) {
      throw Unsupported.operation(
          "constraints of " + quoted(identifier) + ", which is of another data source",
          "leave them out, or create the table using " + ZRecordOptions.FORMAT);
    }
    NumberedColumn.requireNone(quoted(identifier), said.identities());
  }

  private StagedTable foreign(Identifier identifier, NewTable said)
      throws TableAlreadyExistsException, NoSuchNamespaceException {
    requireForeign(identifier, said);
    super.createTable(
        identifier, said.columns(), said.partitions().toArray(Transform[]::new), said.properties());
    try {
      return new ForeignStagedTable(super.loadTable(identifier), () -> dropTable(identifier));
    } catch (NoSuchTableException e) {
      throw new IllegalStateException(quoted(identifier) + " was dropped by somebody else", e);
    }
  }

  private StagedTable createForeign(Identifier identifier, NewTable said)
      throws NoSuchNamespaceException {
    try {
      return foreign(identifier, said);
    } catch (TableAlreadyExistsException e) {
      throw new IllegalStateException(quoted(identifier) + " was created by somebody else", e);
    }
  }

  // Changing.

  /** Changes columns and properties by one commit of the dataset, and the location in the entry. */
  @Override
  public final @Nullable Table alterTable(Identifier identifier, TableChange... changes)
      throws NoSuchTableException {
    refuseMetadata(identifier);
    Optional<SessionEntry> entry = entry(identifier);
    if (entry.isEmpty()) {
      return super.alterTable(identifier, changes);
    }
    if (List.of(changes).stream().anyMatch(EntryCare::isMove)) {
      if (changes.length > 1) {
        throw Unsupported.operation(
            "changing the location of " + entry.get().name() + " together with something else",
            "change the location by a statement of its own");
      }
      care.move(identifier, entry.get(), changes[0]);
      return null;
    }
    VersionSelector.requireNewest("alter " + entry.get().name());
    care.settle(identifier, "alter");
    SparkErrors.done(() -> {
      SessionTable.requireDataset(entry.get());
      TableAlteration.commit(SessionTable.paths(entry.get()), changes);
    });
    care.copyColumns(identifier, entry.get(), entry.get().location());
    return null;
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
