package io.zrecord.spark;

import io.zrecord.spark.catalog.PathCatalog;
import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.catalog.ZRecordTables;
import io.zrecord.spark.changes.ChangeColumns;
import io.zrecord.spark.changes.ChangesTable;
import io.zrecord.spark.column.ColumnMetadata;
import io.zrecord.spark.options.ChangesConf;
import io.zrecord.spark.options.StorageSettings;
import io.zrecord.spark.options.StreamReadConf;
import io.zrecord.spark.options.TimeTravel;
import io.zrecord.spark.options.VersionSelector;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.partition.PartitionColumns;
import io.zrecord.spark.path.PathIdentifiers;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.Reloads;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.path.Unsupported;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.SessionConfigSupport;
import org.apache.spark.sql.connector.catalog.SupportsCatalogOptions;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The data source {@code zrecord}: {@code spark.read.format("zrecord").load(path)} and
 * {@code df.write.format("zrecord").save(path)}.
 *
 * <p>Hands a path to a catalog, {@link PathCatalog}, because a source without a catalog refuses
 * Spark's default save mode. Defaults for all reads and writes of a session are set as
 * {@code spark.datasource.zrecord.<option>}.
 */
public final class ZRecordSource
    implements SupportsCatalogOptions, SessionConfigSupport, DataSourceRegister {
  /** Makes the source. Spark does so whenever it looks for a source in a session. */
  public ZRecordSource() {
    LateExtensions.ensure();
  }

  @Override
  public String shortName() {
    return ZRecordOptions.FORMAT;
  }

  @Override
  public String keyPrefix() {
    return ZRecordOptions.FORMAT;
  }

  @Override
  public Identifier extractIdentifier(CaseInsensitiveStringMap options) {
    Identifier identifier = PathIdentifiers.identifier(options);
    PathCatalog.expect(identifier);
    return identifier;
  }

  @Override
  public String extractCatalog(CaseInsensitiveStringMap options) {
    String key = "spark.sql.catalog." + PathCatalog.NAME;
    SparkSession session = activeSession();
    if (!session.conf().contains(key)) {
      session.conf().set(key, PathCatalog.class.getName());
    }
    return PathCatalog.NAME;
  }

  /**
   * Returns the session whose settings Spark uses to find the catalog, which is the session of this
   * thread. A thread that is older than every session has none; the thread is given the default
   * session.
   */
  private static SparkSession activeSession() {
    scala.Option<SparkSession> active = SparkSession.getActiveSession();
    if (active.isDefined() && !active.get().sparkContext().isStopped()) {
      return active.get();
    }
    SparkSession.clearActiveSession();
    SparkSession session = SparkSession.active();
    SparkSession.setActiveSession(session);
    return session;
  }

  /**
   * Returns the version to read. Spark asks for the version only when it reads, and a catalog
   * cannot tell otherwise why a table is loaded. Therefore there always is a version, unless a time
   * is given, or Spark should load the table again before each query.
   */
  @Override
  public Optional<String> extractTimeTravelVersion(CaseInsensitiveStringMap options) {
    PathCatalog.forget();
    if (ChangesConf.of(options).isPresent()) {
      return Optional.of(TimeTravel.NEWEST);
    }
    VersionSelector selector = VersionSelector.effective(options);
    if (!selector.isEmpty()) {
      return selector.version();
    }
    Identifier identifier = PathIdentifiers.identifier(options);
    boolean isLoadedAgain = Reloads.areSupported()
        && PathIdentifiers.isPlain(identifier)
        && PathCatalog.prepare(identifier);
    return isLoadedAgain ? Optional.empty() : Optional.of(TimeTravel.NEWEST);
  }

  @Override
  public Optional<String> extractTimeTravelTimestamp(CaseInsensitiveStringMap options) {
    return ChangesConf.of(options).isPresent()
        ? Optional.empty()
        : VersionSelector.effective(options).timestamp();
  }

  @Override
  public boolean supportsExternalMetadata() {
    return true;
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    StorageSettings.refuseToKeep(options.asCaseSensitiveMap());
    ReadPaths paths = ReadPaths.literal(PathIdentifiers.paths(PathIdentifiers.identifier(options)));
    if (StreamReadConf.asksForChanges(options)) {
      return SparkErrors.planned(() -> ZRecordTables.streamOfChanges(paths)).schema();
    }
    return ColumnMetadata.withoutFieldIds(
        SparkErrors.planned(() -> ZRecordTables.load(paths, TimeTravel.newest()))
            .schema());
  }

  /** Spark's own session catalog creates no dataset, which alone knows its partitions. */
  private static void requireKept(ZRecordTable table, PartitionColumns partitions) {
    PartitionColumns found = PartitionColumns.of(table.partitioning());
    if (!partitions.isEmpty() && found.isEmpty()) {
      throw Unsupported.operation(
          "a table of Spark's own session catalog that is partitioned by " + partitions.names(),
          "set spark.sql.catalog.spark_catalog=" + ZRecordSessionCatalog.class.getName()
              + ", or write the dataset by df.write.partitionBy(…).save(path) first, and leave"
              + " PARTITIONED BY out");
    }
    partitions.requireAgreement(table.name(), found);
  }

  /**
   * Returns the stream of the changes of a table.
   *
   * @throws IllegalArgumentException if the user says that there are other columns
   */
  private static Table changes(CaseInsensitiveStringMap options, StructType schema) {
    StorageSettings.refuseToKeep(options.asCaseSensitiveMap());
    ChangesTable changes = ZRecordTables.streamOfChanges(
        ReadPaths.literal(PathIdentifiers.paths(PathIdentifiers.identifier(options))));
    if (!changes.schema().equals(schema)) {
      throw new IllegalArgumentException("Cannot read the changes of " + changes.name()
          + " with the columns " + schema.catalogString() + ": they are "
          + changes.schema().catalogString() + "; leave schema(…) out");
    }
    return changes;
  }

  /**
   * Returns a table for session catalogs, which keep the path and the schema of the table
   * themselves, and for streams.
   */
  @Override
  public Table getTable(
      StructType schema, Transform[] partitioning, Map<String, String> properties) {
    CaseInsensitiveStringMap options = new CaseInsensitiveStringMap(properties);
    boolean hasPath =
        options.containsKey(ZRecordOptions.PATH) || options.containsKey(ZRecordOptions.PATHS);
    return SparkErrors.planned(() -> {
      // A default of the session is none for a sink, which Spark gets here as well.
      if (hasPath
          && StreamReadConf.asksForChanges(options)
          && (StreamReadConf.asksForChangesItself(options) || ChangeColumns.areIn(schema))) {
        return changes(options, schema);
      }
      ZRecordTable table = ZRecordTables.forSessionCatalog(
          schema,
          hasPath ? Optional.of(PathIdentifiers.identifier(options)) : Optional.empty(),
          properties);
      requireKept(table, PartitionColumns.of(partitioning));
      return table;
    });
  }
}
