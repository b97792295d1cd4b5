package io.zrecord.spark.write;

import io.zrecord.table.write.ShardWriter;
import org.apache.spark.sql.catalyst.InternalRow;

/** Puts the values of rows into records. Belongs to one thread. */
final class RowFields {
  private final ColumnValueWriter[] columns;
  private final AbsentValue[] absent;

  /**
   * Takes what puts the values, without a copy.
   *
   * @param columns a writer for each column
   * @param absent what each field has where its column is null; then the same of the fields that no
   *     column has
   */
  RowFields(ColumnValueWriter[] columns, AbsentValue[] absent) {
    this.columns = columns;
    this.absent = absent;
  }

  /** Puts the values of a row into the current record of a shard. */
  void write(InternalRow row, ShardWriter shard) {
    for (int i = 0; i < absent.length; i++) {
      if (i < columns.length && !row.isNullAt(i)) {
        columns[i].write(row, i, shard);
      } else {
        absent[i].put(shard, i);
      }
    }
  }
}
