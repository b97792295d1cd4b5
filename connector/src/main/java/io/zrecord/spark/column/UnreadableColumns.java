package io.zrecord.spark.column;

import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.UnreadableField;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.connector.catalog.MetadataColumn;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.slf4j.LoggerFactory;

/**
 * Fields that this release cannot read. Spark sees them as metadata columns: they are no part of
 * {@code select *}, but a query that names one finds the column, and is refused with the name of
 * the feature.
 */
public final class UnreadableColumns {
  private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();

  private UnreadableColumns() {}

  /** Returns the unreadable fields of a schema, except those that a metadata column hides. */
  public static List<MetadataColumn> of(RecordSchema schema) {
    List<MetadataColumn> columns = new ArrayList<>();
    for (UnreadableField field : schema.unreadable()) {
      if (!MetadataColumns.areHiddenBy(field.name())) {
        columns.add(new UnreadableColumn(field.name()));
      }
    }
    return columns;
  }

  /** Warns that columns are left out, once for each dataset of the process. */
  public static void warn(String location, RecordSchema schema) {
    if (!schema.unreadable().isEmpty() && WARNED.add(location)) {
      for (UnreadableField field : schema.unreadable()) {
        LoggerFactory.getLogger(UnreadableColumns.class)
            .warn("Column left out: {}", field.exception(location).getMessage());
      }
    }
  }

  /**
   * Requires that columns that a query names can be read.
   *
   * @throws io.zrecord.errors.UnsupportedFormatException if a column is an unreadable field
   */
  public static void refuse(String location, RecordSchema schema, StructType columns) {
    for (StructField column : columns.fields()) {
      schema.requireReadable(location, column.name());
    }
  }

  /** A column of a type that nobody may see. */
  private record UnreadableColumn(String name) implements MetadataColumn {
    @Override
    public DataType dataType() {
      return DataTypes.BinaryType;
    }

    @Override
    public String comment() {
      return "cannot be read by this release";
    }
  }
}
