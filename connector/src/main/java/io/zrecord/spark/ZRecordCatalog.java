package io.zrecord.spark;

import io.zrecord.spark.catalog.DatasetCatalog;
import io.zrecord.spark.catalog.MetadataName;
import io.zrecord.spark.catalog.ZRecordTables;
import io.zrecord.spark.options.CatalogOptions;
import io.zrecord.spark.options.VersionChoice;
import io.zrecord.spark.path.NoSuchDatasetException;
import io.zrecord.spark.path.PathIdentifiers;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.Reloads;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.warehouse.WarehouseNames;
import io.zrecord.spark.warehouse.WarehouseNamespaces;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.NamespaceAlreadyExistsException;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.analysis.NonEmptyNamespaceException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.NamespaceChange;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableWritePrivilege;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A catalog of SQL. The name of a table may be a path: {@code select * from zrecord.`/data/train`}.
 * With the option {@code warehouse}, tables and namespaces have names as well:
 * {@code spark.sql.catalog.lake=io.zrecord.spark.ZRecordCatalog} and
 * {@code spark.sql.catalog.lake.warehouse=s3a://bucket/lake}. {@link ZRecordSessionExtensions}
 * registers the catalog {@code zrecord}.
 */
public final class ZRecordCatalog extends DatasetCatalog implements SupportsNamespaces {
  private Optional<WarehouseNames> names = Optional.empty();

  /** Makes the catalog of a session. */
  public ZRecordCatalog() {
    LateExtensions.ensure();
  }

  @Override
  protected void configure(String catalog, CaseInsensitiveStringMap options) {
    names = WarehouseNames.of(catalog, CatalogOptions.of(catalog, options));
  }

  @Override
  protected Optional<WarehouseNames> names() {
    return names;
  }

  /**
   * Returns a table, or what is at a path, at the version that the session's defaults select. If a
   * path is missing, this is no exception of a missing table: Spark takes that as a sign to look
   * elsewhere, and then blames the syntax.
   */
  @Override
  public Table loadTable(Identifier identifier) throws NoSuchTableException {
    Optional<MetadataName> metadata = metadata(identifier);
    if (metadata.isPresent()) {
      return load(metadata.get(), VersionChoice.byDefault(VersionChoice.ofSession()));
    }
    boolean isPath = identifiesPaths(identifier);
    if (!isPath && names.isEmpty()) {
      throw new NoSuchDatasetException(identifier);
    }
    Table refreshed = Reloads.refreshed(name(), identifier);
    if (refreshed != null) {
      return refreshed;
    }
    return isPath
        ? SparkErrors.planned(() -> ZRecordTables.loadDefault(ReadPaths.of(identifier)))
            .loadedAs(name(), identifier)
        : named(identifier, ZRecordTables::loadDefault).loadedAs(name(), identifier);
  }

  /**
   * Returns the newest version of a table, or at a path, to be written. If the path of a statement
   * that changes records is missing, the exception is that of a read.
   *
   * @throws NoSuchTableException if there is none; {@code saveAsTable} creates the table then
   */
  @Override
  public Table loadTable(Identifier identifier, Set<TableWritePrivilege> privileges)
      throws NoSuchTableException {
    refuseMetadata(identifier);
    if (!identifiesPaths(identifier)) {
      return named(identifier, ZRecordTables::loadForWriting);
    }
    if (!tableExists(identifier)) {
      boolean mayCreate = privileges.contains(TableWritePrivilege.INSERT)
          && !privileges.contains(TableWritePrivilege.UPDATE);
      if (mayCreate) {
        throw new NoSuchTableException(identifier);
      }
      return loadTable(identifier);
    }
    return SparkErrors.planned(() -> ZRecordTables.loadForWriting(requireOne(identifier)));
  }

  @Override
  protected boolean identifiesPaths(Identifier identifier) {
    return PathIdentifiers.isPath(identifier);
  }

  private WarehouseNamespaces namespaces() {
    return new WarehouseNamespaces(names.orElseThrow(() -> Unsupported.operation(
        "namespaces in the catalog " + name() + ", which has paths only",
        "set spark.sql.catalog." + name() + ".warehouse to have names below a path")));
  }

  @Override
  public boolean namespaceExists(String[] namespace) {
    return names.isPresent() && namespaces().exists(namespace);
  }

  @Override
  public String[][] listNamespaces() throws NoSuchNamespaceException {
    return namespaces().list();
  }

  @Override
  public String[][] listNamespaces(String[] namespace) throws NoSuchNamespaceException {
    return namespaces().list(namespace);
  }

  @Override
  public Map<String, String> loadNamespaceMetadata(String[] namespace)
      throws NoSuchNamespaceException {
    return namespaces().load(namespace);
  }

  @Override
  public void createNamespace(String[] namespace, Map<String, String> metadata)
      throws NamespaceAlreadyExistsException {
    namespaces().create(namespace, metadata);
  }

  @Override
  public void alterNamespace(String[] namespace, NamespaceChange... changes)
      throws NoSuchNamespaceException {
    namespaces().alter(namespace, changes);
  }

  @Override
  public boolean dropNamespace(String[] namespace, boolean cascade)
      throws NoSuchNamespaceException, NonEmptyNamespaceException {
    return namespaces().drop(namespace, cascade, this::dropTable);
  }
}
