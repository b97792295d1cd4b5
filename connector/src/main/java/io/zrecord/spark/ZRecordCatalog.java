package io.zrecord.spark;

import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;

/**
 * The catalog {@code zrecord} of SQL, where the name of a table is a path: {@code select * from zrecord.`/data/train`}.
 * Registered by {@link ZRecordSessionExtensions}, or with {@code spark.sql.catalog.zrecord=io.zrecord.spark.ZRecordCatalog}.
 */
public final class ZRecordCatalog extends DatasetCatalog {
  @Override
  public Table loadTable(Identifier identifier) throws NoSuchTableException {
    // Looks at the path first, so that what is wrong with it is said.
    load(identifier, DatasetPaths.Time.newest());
    return DatasetPaths.loadStrict(requirePath(identifier));
  }

  @Override
  boolean identifiesPaths(Identifier identifier) {
    return DatasetPaths.isPath(identifier);
  }
}
