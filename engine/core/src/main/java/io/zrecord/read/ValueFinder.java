package io.zrecord.read;

/**
 * Finds the records whose value of a field is within one of some ranges, by reading the values.
 * Belongs to one thread.
 */
public interface ValueFinder {
  /**
   * Returns those of some records whose value is within a range. Reads the values of all of them.
   *
   * @throws IndexOutOfBoundsException if an index is not in {@code [0, length)} of the dataset
   */
  IndexSet among(IndexSet records);
}
