package io.zrecord.spark.byindex;

import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;

/** The rows of a task, of which each is of another record. Belongs to one task. */
final class OrderedRows {
  private final Iterator<InternalRow> rows;
  private final int indexOrdinal;
  private long last = -1;

  /** @param indexOrdinal where a row has its index */
  OrderedRows(Iterator<InternalRow> rows, int indexOrdinal) {
    this.rows = rows;
    this.indexOrdinal = indexOrdinal;
  }

  boolean hasNext() {
    return rows.hasNext();
  }

  /**
   * Returns the next row, which is valid until the next call.
   *
   * @throws IllegalArgumentException if the row is of the same record as the row before
   */
  InternalRow next() {
    InternalRow row = rows.next();
    long index = row.getLong(indexOrdinal);
    if (index == last) {
      throw new IllegalArgumentException(
          "Two rows have the _index " + index + "; give each record one row");
    }
    last = index;
    return row;
  }

  /** Returns the index of the row that was returned last. */
  long index() {
    return last;
  }
}
