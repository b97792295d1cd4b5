package io.zrecord.spark;

import io.zrecord.spark.catalog.DatasetCatalog;
import io.zrecord.spark.catalog.ZRecordTables;
import io.zrecord.spark.path.NoSuchDatasetException;
import io.zrecord.spark.path.PathIdentifiers;
import io.zrecord.spark.path.ReadPaths;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableWritePrivilege;

/**
 * The catalog {@code zrecord} of SQL, where the name of a table is a path: {@code select * from
 * zrecord.`/data/train`}. Registered by {@link ZRecordSessionExtensions}, or with
 * {@code spark.sql.catalog.zrecord=io.zrecord.spark.ZRecordCatalog}.
 */
public final class ZRecordCatalog extends DatasetCatalog {
  /** Makes the catalog of a session. */
  public ZRecordCatalog() {
    LateExtensions.ensure();
  }

  /**
   * Returns what is at a path, at the version that the session's defaults select. Throws the
   * engine's exception if the path is missing: Spark takes its own exception for a missing table as
   * a sign to look elsewhere, and then blames the syntax.
   */
  @Override
  public Table loadTable(Identifier identifier) throws NoSuchTableException {
    if (!identifiesPaths(identifier)) {
      throw new NoSuchDatasetException(identifier);
    }
    return ZRecordTables.loadDefault(ReadPaths.of(identifier));
  }

  /**
   * Returns the newest version at a path, to be written.
   *
   * @throws NoSuchTableException if there is none; {@code saveAsTable} creates the table then
   */
  @Override
  public Table loadTable(Identifier identifier, Set<TableWritePrivilege> privileges)
      throws NoSuchTableException {
    if (!identifiesPaths(identifier)) {
      throw new NoSuchDatasetException(identifier);
    }
    if (!tableExists(identifier)) {
      throw new NoSuchTableException(identifier);
    }
    return ZRecordTables.loadStrict(requireOne(identifier));
  }

  @Override
  protected boolean identifiesPaths(Identifier identifier) {
    return PathIdentifiers.isPath(identifier);
  }
}
