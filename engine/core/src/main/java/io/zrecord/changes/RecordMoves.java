package io.zrecord.changes;

import java.util.Arrays;
import java.util.OptionalLong;

/**
 * Pairs of a record that a version deleted and one that it inserted, which are the same record in
 * another partition. Immutable.
 */
public final class RecordMoves {
  /** No record was moved. */
  public static final RecordMoves NONE = new RecordMoves(new long[0], new long[0]);

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

  /**
   * Returns the index in the version before of a record that was moved; empty if it was not.
   *
   * @param index of the record in the version
   */
  public OptionalLong beforeOf(long index) {
    int found = Arrays.binarySearch(after, index);
    return found < 0 ? OptionalLong.empty() : OptionalLong.of(before[found]);
  }
}
