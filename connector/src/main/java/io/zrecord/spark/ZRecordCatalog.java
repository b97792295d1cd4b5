package io.zrecord.spark;

import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;

/**
 * The catalog {@code zrecord} of SQL, where the name of a table is a path: {@code select * from zrecord.`/data/train`}.
 * Registered by {@link ZRecordSessionExtensions}, or with {@code spark.sql.catalog.zrecord=io.zrecord.spark.ZRecordCatalog}.
 */
public final class ZRecordCatalog extends DatasetCatalog {
  /**
   * The newest version at a path. Spark takes its own exception for a missing table as a sign to look elsewhere and then blames the
   * syntax; so a path that is missing is the engine's exception, which it hands on.
   */
  @Override
  public Table loadTable(Identifier identifier) throws NoSuchTableException {
    if (!identifiesPaths(identifier)) {
      throw new NoSuchDatasetException(identifier);
    }
    return DatasetPaths.loadStrict(requirePath(identifier));
  }

  @Override
  boolean identifiesPaths(Identifier identifier) {
    return DatasetPaths.isPath(identifier);
  }
}
