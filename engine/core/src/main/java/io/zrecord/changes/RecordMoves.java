package io.zrecord.changes;

import java.util.Arrays;

/**
 * Pairs of a record that a version deleted and one that it inserted, which are the same record in
 * another partition. Immutable.
 */
public final class RecordMoves {
  /** No record was moved. */
  static final RecordMoves NONE = new RecordMoves(new long[0], new long[0]);

  private final long[] before;
  private final long[] after;

  /**
   * Creates pairs.
   *
   * @param before indices in the version before
   * @param after index in the version of each of them, rising
   */
  RecordMoves(long[] before, long[] after) {
    this.before = before;
    this.after = after;
  }

  /** Returns the number of records. */
  public int count() {
    return after.length;
  }

  /** Returns the index of record <i>i</i> in the version before. */
  public long before(int i) {
    return before[i];
  }

  /** Returns the index of record <i>i</i> in the version. */
  public long after(int i) {
    return after[i];
  }

  /** Tells whether the record with an index in the version was moved. */
  public boolean hasAfter(long index) {
    return Arrays.binarySearch(after, index) >= 0;
  }
}
