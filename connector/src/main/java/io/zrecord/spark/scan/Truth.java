package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;

/**
 * The places where a condition is true, and where it is false; it is null in all others.
 *
 * @param holds the places where the condition is true, or may be
 * @param fails the places where the condition is false, or may be
 * @param isExact whether both have no other places
 */
record Truth(IndexSet holds, IndexSet fails, boolean isExact) {
  /** Returns the truth of a condition that is never null. */
  static Truth of(IndexSet holds, long length) {
    return new Truth(holds, holds.complement(length), true);
  }

  /** Returns the truth of a condition of which nothing is known. */
  static Truth unknown(long length) {
    IndexSet all = IndexSet.range(0, length);
    return new Truth(all, all, false);
  }

  Truth and(Truth other) {
    return new Truth(
        holds.intersect(other.holds), fails.union(other.fails), isExact && other.isExact);
  }

  Truth or(Truth other) {
    return new Truth(
        holds.union(other.holds), fails.intersect(other.fails), isExact && other.isExact);
  }

  Truth not() {
    return new Truth(/* holds= */ fails, /* fails= */ holds, isExact);
  }
}
