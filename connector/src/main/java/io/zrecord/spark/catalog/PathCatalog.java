package io.zrecord.spark.catalog;

import io.zrecord.spark.path.DatasetPath;
import io.zrecord.spark.path.PathIdentifiers;
import io.zrecord.spark.path.ReadPaths;
import io.zrecord.spark.path.Reloads;
import io.zrecord.spark.path.SparkErrors;
import java.util.Optional;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.Table;
import org.jspecify.annotations.Nullable;

/**
 * The catalog of {@code format("zrecord")}: an identifier is a path, or several paths. Registered
 * by {@code ZRecordSource}.
 *
 * <p>A {@code DataFrameWriter} loads the table that it appends to or overwrites. It does so without
 * saying that it writes, and before it knows whether the columns fit. Such a table accepts any
 * columns, and may not exist yet. A writer is known by what it does not ask the source for: the
 * version. Everybody else gets a table whose columns Spark compares, because a temporary view of
 * the table can be written, as a view of Spark's own file sources can.
 */
public final class PathCatalog extends DatasetCatalog {
  public static final String NAME = "zrecord_paths";

  private static final ThreadLocal<@Nullable Asked> ASKED = new ThreadLocal<>();

  /**
   * The identifier for which this thread will ask next.
   *
   * @param table the table to read, loaded before Spark asks for it; null if the thread may write
   */
  private record Asked(Identifier identifier, @Nullable ZRecordTable table) {}

  @Override
  public Table loadTable(Identifier identifier) {
    Table refreshed = Reloads.refreshed(NAME, identifier);
    if (refreshed != null) {
      return refreshed;
    }
    Asked asked = ASKED.get();
    forget();
    ReadPaths path = requireOne(identifier);
    ZRecordTable table;
    if (asked == null || !asked.identifier().equals(identifier)) {
      table = SparkErrors.planned(() -> ZRecordTables.loadHeld(path));
    } else if (asked.table() != null) {
      table = asked.table();
    } else {
      table = SparkErrors.planned(() -> ZRecordTables.loadLenient(path));
    }
    return table.loadedAs(NAME, identifier);
  }

  /** Notes that this thread will load a table, perhaps in order to write any columns. */
  public static void expect(Identifier identifier) {
    ASKED.set(new Asked(identifier, null));
  }

  /**
   * Loads a table to be read, and keeps the table for the call of {@link #loadTable} by the same
   * thread that follows.
   *
   * @return false if Spark must not load the table again before each query, or there is none
   */
  public static boolean prepare(Identifier identifier) {
    String path = PathIdentifiers.paths(identifier).get(0);
    ReadPaths paths = ReadPaths.literal(path, PathIdentifiers.settings(identifier));
    Optional<ZRecordTable> table = SparkErrors.planned(() -> ZRecordTables.findHeld(paths))
        .filter(found -> found.version() != null);
    table.ifPresent(found -> ASKED.set(new Asked(identifier, found)));
    return table.isPresent();
  }

  /** Forgets what this thread was going to load: the thread reads a version. */
  public static void forget() {
    ASKED.remove();
  }

  /** Takes an empty directory for something that is there, as Spark's own sources do. */
  @Override
  protected boolean isTaken(DatasetPath dataset) {
    // This save asks for no table. What is asked for next is somebody else's to read.
    forget();
    return super.isTaken(dataset) || dataset.isEmptyDirectory();
  }

  @Override
  protected boolean identifiesPaths(Identifier identifier) {
    return true;
  }
}
