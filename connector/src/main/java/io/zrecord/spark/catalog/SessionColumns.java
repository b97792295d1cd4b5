package io.zrecord.spark.catalog;

import io.zrecord.spark.column.ColumnMetadata;
import java.util.function.Supplier;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.types.StructType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the copy of a table's columns that an entry of a session catalog has. Nothing of zrecord
 * reads the copy of a table with a dataset. Stateless.
 */
final class SessionColumns {
  private static final Logger LOG = LoggerFactory.getLogger(SessionColumns.class);

  private SessionColumns() {}

  /**
   * Copies columns into an entry after a commit has changed those of the dataset. Does not fail:
   * the commit has taken effect.
   */
  static void copy(Entries entries, Identifier identifier, Supplier<StructType> columns) {
    try {
      Metastore.setColumns(identifier, ColumnMetadata.withoutApplications(columns.get()));
    } catch (Exception e) { // Spark throws checked ones where Java expects none.
      LOG.warn(
          "The entry of {} keeps the columns from before in the session's catalog, which other"
              + " programs may read: {}",
          SessionEntry.quoted(entries.catalog(), identifier),
          e.getMessage());
    }
    entries.invalidate(identifier);
  }
}
