package io.zrecord.spark.catalog;

import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.PathIdentifiers;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.Reloads;
import io.zrecord.spark.path.SparkErrors;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.jspecify.annotations.Nullable;

/**
 * The catalog of {@code format("zrecord")}: an identifier is a path, or several paths. Registered
 * by {@code ZRecordSource}.
 *
 * <p>A {@code DataFrameWriter} loads the table that it appends to or overwrites. It does so without
 * saying that it writes, and before it knows whether the columns fit. A table loaded without a
 * version therefore accepts any columns, and may not exist yet. Since Spark 4.1 such a table is
 * read as well, see {@link Reloads}.
 */
public final class PathCatalog extends DatasetCatalog {
  public static final String NAME = "zrecord_paths";

  private static final ThreadLocal<@Nullable Prepared> PREPARED = new ThreadLocal<>();

  /** A table that is loaded, before Spark asks for it. */
  private record Prepared(Identifier identifier, ZRecordTable table) {}

  @Override
  public Table loadTable(Identifier identifier) {
    Table refreshed = Reloads.refreshed(NAME, identifier);
    if (refreshed != null) {
      return refreshed;
    }
    Prepared prepared = PREPARED.get();
    forget();
    ZRecordTable table = prepared != null && prepared.identifier().equals(identifier)
        ? prepared.table()
        : load(requireOne(identifier));
    return table.loadedAs(NAME, identifier);
  }

  private static ZRecordTable load(ReadPaths path) {
    return SparkErrors.planned(() -> ZRecordTables.loadLenient(path));
  }

  /**
   * Loads a table to be read, and keeps the table for the call of {@link #loadTable} by the same
   * thread that follows.
   *
   * @return false if Spark must not load the table again before each query, or there is none
   */
  public static boolean prepare(Identifier identifier) {
    String path = PathIdentifiers.paths(identifier).get(0);
    ZRecordTable table = load(ReadPaths.literal(path, PathIdentifiers.settings(identifier)));
    boolean isLoadedAgain = table.isThere() && table.version() != null;
    if (isLoadedAgain) {
      PREPARED.set(new Prepared(identifier, table));
    }
    return isLoadedAgain;
  }

  /** Forgets a table that was prepared for a read that came to nothing. */
  public static void forget() {
    PREPARED.remove();
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
