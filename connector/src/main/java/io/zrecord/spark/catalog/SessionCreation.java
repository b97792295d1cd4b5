package io.zrecord.spark.catalog;

import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.spark.ddl.NewTable;
import io.zrecord.spark.ddl.TableDefinition;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.partition.PartitionColumns;
import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.write.WriteTarget;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.apache.spark.sql.AnalysisException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.StagedTable;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One statement that creates or replaces a zrecord table of a session catalog. The dataset keeps
 * what the statement says of the table. The entry keeps the place and the OPTIONS, and a copy of
 * the columns for programs that look nowhere else.
 */
final class SessionCreation {
  private static final Logger LOG = LoggerFactory.getLogger(SessionCreation.class);

  private final Entries entries;
  private final EntryCare care;
  private final Identifier identifier;
  private final String name;
  private final NewTable said;
  private final Optional<String> given;
  private final Map<String, String> options;
  private final PartitionColumns partitions;

  /**
   * Parses what a statement says.
   *
   * @throws IllegalArgumentException if it says what no table keeps
   */
  SessionCreation(Entries entries, EntryCare care, Identifier identifier, NewTable said) {
    this.entries = entries;
    this.care = care;
    this.identifier = identifier;
    this.name = SessionEntry.quoted(entries.catalog(), identifier);
    this.said = said;
    Map<String, String> all = SessionEntry.options(said.properties());
    this.given = location(said.properties(), all);
    WriteConf.requireValid(all);
    this.options = WriteConf.writeOptionsAmong(all);
    this.partitions = PartitionColumns.of(said.partitions().toArray(Transform[]::new));
  }

  private Optional<String> location(Map<String, String> properties, Map<String, String> all) {
    String location = properties.get(TableCatalog.PROP_LOCATION);
    String path =
        location == null ? new CaseInsensitiveStringMap(all).get(ZRecordOptions.PATH) : location;
    return Optional.ofNullable(path).map(text -> Metastore.absolute(text, identifier));
  }

  /** Stages a table whose name is free. */
  StagedTable create(WriteTarget.Creation creation) {
    new Declaration(said.columns()).requireStorable(name);
    String path = given.orElseGet(() -> Metastore.defaultLocation(identifier));
    DatasetPath dataset = DatasetPath.of(path);
    if (dataset.exists() && (given.isEmpty() || creation == WriteTarget.Creation.CREATE)) {
      throw new IllegalArgumentException(DatasetsInTheWay.message(name, path));
    }
    requireUntaken();
    if (given.isEmpty() && dataset.hasOtherFiles()) {
      throw new IllegalArgumentException("Cannot create " + name + ": its directory "
          + path + " has other files, which dropping the table would delete; move them, or give the"
          + " LOCATION of another directory");
    }
    return staged(dataset, creation, options, () -> register(path));
  }

  /**
   * Prepares a table without a query. If the statement names the place of a dataset that is there,
   * the table is that dataset.
   *
   * @throws IllegalArgumentException if there is neither a dataset nor a column
   */
  SessionStagedTable.Registration createEmpty() {
    if (given.isPresent() && DatasetPath.of(given.get()).exists()) {
      return ofDataset(given.get());
    }
    if (said.columns().isEmpty()) {
      String cannot = "Cannot create " + name + " without columns";
      String remedy = "; declare columns, or give the LOCATION of a dataset";
      if (given.isPresent()) {
        throw new NotADatasetException(
            given.get(), cannot + ": there is no dataset at " + given.get() + remedy);
      }
      throw new IllegalArgumentException(cannot + remedy);
    }
    return create(WriteTarget.Creation.CREATE)::commitStagedChanges;
  }

  /** Stages a table in the place of one that has this entry. */
  StagedTable replace(SessionEntry entry) {
    new Declaration(said.columns()).requireStorable(entry.name());
    DatasetPath dataset = DatasetPath.of(entry.location());
    if (given.isPresent() && !DatasetPath.of(given.get()).isSamePlaceAs(dataset)) {
      throw new IllegalArgumentException("Cannot replace " + entry.name() + " at "
          + entry.location() + " by a table at " + given.get()
          + "; leave LOCATION out, or drop the table first");
    }
    Map<String, String> kept = WriteConf.writeOptionsAmong(entry.options());
    if (!options.isEmpty() && !options.equals(kept)) {
      throw new IllegalArgumentException("Cannot replace " + entry.name() + " with the OPTIONS "
          + options + ", as the table has " + kept
          + "; leave OPTIONS out, or drop the table first");
    }
    return staged(
        dataset,
        WriteTarget.Creation.REPLACE,
        kept,
        () -> care.copyColumns(identifier, entry, dataset.path()));
  }

  private StagedTable staged(
      DatasetPath dataset,
      WriteTarget.Creation creation,
      Map<String, String> ofWrites,
      SessionStagedTable.Registration registration) {
    ReadPaths place = ReadPaths.ofTable(name, dataset.path(), Map.of());
    TableDefinition definition = TableDefinition.of(place, withoutPlace());
    return new SessionStagedTable(
        place,
        said.columns(),
        WriteTarget.at(
                dataset,
                creation == WriteTarget.Creation.CREATE ? Optional.empty() : dataset.newest(),
                creation)
            .partitionedBy(partitions)
            .declaring(definition::declared)
            .withProperties(definition.described().properties()),
        ofWrites,
        registration);
  }

  /** Returns what the statement says beside the place and the OPTIONS, which the entry keeps. */
  private NewTable withoutPlace() {
    Map<String, String> properties = new HashMap<>(said.properties());
    properties
        .keySet()
        .removeIf(key -> SessionEntry.isOfEntry(key)
            || said.properties().containsKey(TableCatalog.OPTION_PREFIX + key));
    return new NewTable(
        said.columns(), said.partitions(), properties, said.identities(), said.constraints());
  }

  /**
   * Prepares the entry of a table whose dataset is there already.
   *
   * @throws SchemaMismatchException if the dataset has other columns
   * @throws IllegalArgumentException if the dataset declares something else
   */
  private SessionStagedTable.Registration ofDataset(String path) {
    requireUntaken();
    ZRecordTable table = ZRecordTables.load(ReadPaths.literal(path), TimeTravel.newest());
    partitions.requireAgreement(path, PartitionColumns.of(table.partitioning()));
    Declaration declared = new Declaration(said.columns());
    Optional<String> mismatch = declared.mismatch(Declaration.plain(table.schema()));
    if (mismatch.isPresent()) {
      throw new SchemaMismatchException(
          path,
          "Cannot create " + name + " at " + path + ": " + mismatch.get()
              + "; declare those, or no columns");
    }
    new StatedAgain(name, path, table).require(withoutPlace());
    return () -> register(path);
  }

  private void register(String path) throws AnalysisException {
    Map<String, String> properties = new HashMap<>();
    said.properties().forEach((key, value) -> {
      if (SessionEntry.isOfEntry(key)
          || said.properties().containsKey(TableCatalog.OPTION_PREFIX + key)) {
        properties.put(key, value);
      }
    });
    properties.put(TableCatalog.PROP_LOCATION, path);
    properties.put(TableCatalog.PROP_PROVIDER, ZRecordOptions.FORMAT);
    Map<String, String> all = SessionEntry.ofDataset(properties);
    if (given.isPresent()) {
      entries.create(identifier, EntryCare.columnsAt(path), all);
    } else {
      registerManaged(EntryCare.columnsAt(path), all);
    }
    entries.invalidate(identifier);
  }

  /**
   * Writes the entry of a managed table by way of an external one of a name that nobody has. A
   * driver that dies in between leaves at most that entry, whose drop deletes no files.
   */
  private void registerManaged(StructType columns, Map<String, String> properties)
      throws AnalysisException {
    Identifier draft = Identifier.of(
        identifier.namespace(), "zrecord_draft_" + UUID.randomUUID().toString().replace('-', '_'));
    entries.create(draft, columns, properties);
    try {
      Optional<SessionEntry> entry = care.written(draft);
      if (entry.isPresent()) {
        care.forgetLocation(draft, entry.get());
      }
      Metastore.copyAsManaged(draft, identifier);
    } finally {
      dropDraft(draft);
    }
  }

  /** Does not fail: the table has its entry, or there is a failure to tell already. */
  private void dropDraft(Identifier draft) {
    try {
      entries.drop(draft);
    } catch (RuntimeException e) {
      LOG.warn("The entry {} is left in the session's catalog; drop it: {}", draft, e.getMessage());
    }
  }

  /** Refuses the location of an external table that is another table's to delete. */
  private void requireUntaken() {
    given.ifPresent(place ->
        EntryCare.requireUntaken(identifier, "create " + name + " at " + place, place, false));
  }
}
