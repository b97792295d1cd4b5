package io.zrecord.spark.changes;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.column.ColumnMetadata;
import io.zrecord.spark.column.SparkTypes;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/** The columns of changes: those of the table, and three that say what a row is. Stateless. */
public final class ChangeColumns {
  static final String TYPE = "_change_type";
  static final String VERSION = "_commit_version";
  static final String TIMESTAMP = "_commit_timestamp";
  static final Set<String> NAMES = Set.of(TYPE, VERSION, TIMESTAMP);

  private ChangeColumns() {}

  /**
   * Returns all columns. Those of the table are nullable, because older versions may lack them.
   *
   * @throws SchemaMismatchException if the table has a field of the name of a column of changes, in
   *     whatever case: Spark could not tell them apart
   */
  static StructType of(String location, RecordSchema fields) {
    StructType columns = new StructType();
    for (StructField column : ColumnMetadata.bare(SparkTypes.structOf(fields)).fields()) {
      if (NAMES.contains(column.name().toLowerCase(Locale.ROOT))) {
        throw new SchemaMismatchException(
            location,
            "Cannot tell the changes of " + location + ": its field '" + column.name()
                + "' has the name of a column of changes; rename the field");
      }
      columns = columns.add(column.name(), column.dataType(), true);
    }
    return columns
        .add(TYPE, DataTypes.StringType, false)
        .add(VERSION, DataTypes.LongType, false)
        .add(TIMESTAMP, DataTypes.TimestampType, false);
  }

  /** Tells whether those that say what a row is are among some columns. */
  public static boolean areIn(StructType columns) {
    return Arrays.asList(columns.fieldNames()).containsAll(NAMES);
  }

  /** Returns the columns of the table among some. */
  static StructType ofTable(StructType columns) {
    StructType ofTable = new StructType();
    for (StructField column : columns.fields()) {
      if (!NAMES.contains(column.name())) {
        ofTable = ofTable.add(column);
      }
    }
    return ofTable;
  }
}
