package io.zrecord.spark;

import io.zrecord.spark.catalog.DatasetCatalog;
import io.zrecord.spark.catalog.ZRecordTables;
import io.zrecord.spark.path.NoSuchDatasetException;
import io.zrecord.spark.path.PathIdentifiers;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.Reloads;
import io.zrecord.spark.path.SparkErrors;
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
   * Returns what is at a path, at the version that the session's defaults select. If the path is
   * missing, this is no exception of a missing table: Spark takes that as a sign to look elsewhere,
   * and then blames the syntax.
   */
  @Override
  public Table loadTable(Identifier identifier) throws NoSuchTableException {
    if (!identifiesPaths(identifier)) {
      throw new NoSuchDatasetException(identifier);
    }
    Table refreshed = Reloads.refreshed(name(), identifier);
    return refreshed == null
        ? SparkErrors.planned(() -> ZRecordTables.loadDefault(ReadPaths.of(identifier)))
            .loadedAs(name(), identifier)
        : refreshed;
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
    return SparkErrors.planned(() -> ZRecordTables.loadForWriting(requireOne(identifier)));
  }

  @Override
  protected boolean identifiesPaths(Identifier identifier) {
    return PathIdentifiers.isPath(identifier);
  }
}
