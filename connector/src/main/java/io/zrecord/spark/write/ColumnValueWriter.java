package io.zrecord.spark.write;

import io.zrecord.table.write.ShardWriter;
import org.apache.spark.sql.catalyst.InternalRow;

/** Passes the values of one column, which are not null, to a shard writer. */
@FunctionalInterface
interface ColumnValueWriter {
  /**
   * Writes a value.
   *
   * @param ordinal ordinal of the column in the row, and of the field in the shard
   */
  void write(InternalRow row, int ordinal, ShardWriter shard);
}
