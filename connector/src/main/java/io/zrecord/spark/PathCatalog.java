package io.zrecord.spark;

import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;

/**
 * The catalog behind {@code format("zrecord")}: an identifier is a path, or several. Registered by {@link ZRecordSource}.
 *
 * <p>A {@code DataFrameWriter} loads the table that it appends to or overwrites without saying that it writes, and before it knows
 * whether the columns fit. A table loaded without a version therefore accepts any columns, and may not exist yet.
 */
public final class PathCatalog extends DatasetCatalog {
  static final String NAME = "zrecord_paths";

  @Override
  public Table loadTable(Identifier identifier) {
    return DatasetPaths.loadLenient(requirePath(identifier));
  }

  @Override
  boolean identifiesPaths(Identifier identifier) {
    return true;
  }
}
