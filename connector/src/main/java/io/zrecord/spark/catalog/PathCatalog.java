package io.zrecord.spark.catalog;

import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.SparkErrors;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;

/**
 * The catalog of {@code format("zrecord")}: an identifier is a path, or several paths. Registered
 * by {@code ZRecordSource}.
 *
 * <p>A {@code DataFrameWriter} loads the table that it appends to or overwrites. It does so without
 * saying that it writes, and before it knows whether the columns fit. A table loaded without a
 * version therefore accepts any columns, and may not exist yet.
 */
public final class PathCatalog extends DatasetCatalog {
  public static final String NAME = "zrecord_paths";

  @Override
  public Table loadTable(Identifier identifier) {
    return SparkErrors.planned(() -> ZRecordTables.loadLenient(requireOne(identifier)));
  }

  /** Takes an empty directory for something that is there, as Spark's own sources do. */
  @Override
  protected boolean isTaken(DatasetPath dataset) {
    return super.isTaken(dataset) || dataset.isEmptyDirectory();
  }

  @Override
  protected boolean identifiesPaths(Identifier identifier) {
    return true;
  }
}
