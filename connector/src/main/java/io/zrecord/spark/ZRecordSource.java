package io.zrecord.spark;

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
 * The data source {@code zrecord}: {@code spark.read.format("zrecord").load(path)} and {@code
 * df.write.format("zrecord").save(path)}.
 *
 * <p>A path is handed to a catalog, {@link PathCatalog}, because a source without one refuses Spark's default save mode. Defaults
 * for all reads and writes of a session are set as {@code spark.datasource.zrecord.<option>}.
 */
public final class ZRecordSource
    implements SupportsCatalogOptions, SessionConfigSupport, DataSourceRegister {
  static final String SHORT_NAME = "zrecord";

  @Override
  public String shortName() {
    return SHORT_NAME;
  }

  @Override
  public String keyPrefix() {
    return SHORT_NAME;
  }

  @Override
  public Identifier extractIdentifier(CaseInsensitiveStringMap options) {
    return DatasetPaths.identifier(options);
  }

  @Override
  public String extractCatalog(CaseInsensitiveStringMap options) {
    String key = "spark.sql.catalog." + PathCatalog.NAME;
    SparkSession session = SparkSession.active();
    if (!session.conf().contains(key)) {
      session.conf().set(key, PathCatalog.class.getName());
    }
    return PathCatalog.NAME;
  }

  /**
   * The version to read. Spark asks for it only when it reads, and a catalog cannot tell otherwise what a table is loaded for: so
   * there always is a version, unless a time is given.
   */
  @Override
  public Optional<String> extractTimeTravelVersion(CaseInsensitiveStringMap options) {
    String version = options.get(ZRecordOptions.VERSION_AS_OF);
    String tag = options.get(ZRecordOptions.TAG);
    if (version != null && tag != null) {
      throw new IllegalArgumentException("The options " + ZRecordOptions.VERSION_AS_OF + " and "
          + ZRecordOptions.TAG + " exclude each other; give one of them");
    }
    if (tag != null) {
      return Optional.of(DatasetPaths.requireTag(tag));
    }
    return version == null && options.containsKey(ZRecordOptions.TIMESTAMP_AS_OF)
        ? Optional.empty()
        : Optional.of(version == null ? DatasetPaths.NEWEST : version);
  }

  @Override
  public Optional<String> extractTimeTravelTimestamp(CaseInsensitiveStringMap options) {
    return Optional.ofNullable(options.get(ZRecordOptions.TIMESTAMP_AS_OF));
  }

  @Override
  public boolean supportsExternalMetadata() {
    return true;
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return DatasetPaths.load(
            DatasetPaths.paths(DatasetPaths.identifier(options)), DatasetPaths.Time.newest())
        .schema();
  }

  /** For session catalogs, which keep the path of a table and its schema themselves. */
  @Override
  public Table getTable(
      StructType schema, Transform[] partitioning, Map<String, String> properties) {
    Unsupported.refusePartitioning(partitioning);
    CaseInsensitiveStringMap options = new CaseInsensitiveStringMap(properties);
    boolean hasPath =
        options.containsKey(ZRecordOptions.PATH) || options.containsKey(ZRecordOptions.PATHS);
    return DatasetPaths.forSessionCatalog(
        schema, hasPath ? Optional.of(DatasetPaths.identifier(options)) : Optional.empty());
  }
}
