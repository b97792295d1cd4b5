package io.zrecord.internal.store;

/** Checks indices of records against the length of a store. */
public final class RecordIndices {
  private RecordIndices() {}

  /**
   * Checks that {@code index} is in {@code [0, length)}.
   *
   * @throws IndexOutOfBoundsException if it is not
   */
  public static void requireWithin(long index, long length) {
    if (index < 0 || index >= length) {
      throw new IndexOutOfBoundsException("There is no record " + index + ": the store has "
          + length + " records, with indices from 0 to " + (length - 1));
    }
  }
}
