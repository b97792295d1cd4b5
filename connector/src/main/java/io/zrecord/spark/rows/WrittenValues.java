package io.zrecord.spark.rows;

import java.util.List;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;

/** Counts the values that a task gives to records that are there. Belongs to one thread. */
final class WrittenValues {
  private final boolean[] isCarried;
  private final boolean[] isWritten;
  private long bytes;
  private long carriedBytes;
  private long compared;

  /**
   * @param carried ordinals of the columns that the statement, or a clause of it, does not assign
   */
  WrittenValues(int columns, List<Integer> carried) {
    isCarried = new boolean[columns];
    isWritten = new boolean[columns];
    carried.forEach(column -> isCarried[column] = true);
  }

  /** Tells whether a column is one that the statement, or a clause of it, does not assign. */
  boolean isCarried(int column) {
    return isCarried[column];
  }

  /** Counts a value of a record that stays where it is. */
  void written(int column, int lengthBytes) {
    isWritten[column] = true;
    bytes += lengthBytes;
    if (isCarried[column]) {
      carriedBytes += lengthBytes;
    }
  }

  /** Counts a value that is written with a record that moves, and that nothing assigns. */
  void moved(int lengthBytes) {
    carriedBytes += lengthBytes;
  }

  /** Counts a look at the value that is there. */
  void compared() {
    compared++;
  }

  CustomTaskMetric[] metrics() {
    long columns = 0;
    for (boolean written : isWritten) {
      columns += written ? 1 : 0;
    }
    return RowMetrics.ofValues(columns, bytes, carriedBytes, compared);
  }
}
