package io.zrecord.spark.write;

import io.zrecord.table.write.ValueSink;
import org.apache.spark.sql.catalyst.InternalRow;

/** Passes the values of one column, which are not null, to a record that is written. */
@FunctionalInterface
public interface ColumnValueWriter {
  /**
   * Writes a value.
   *
   * @param ordinal ordinal of the column in the row, and of the field in the record
   */
  void write(InternalRow row, int ordinal, ValueSink record);
}
