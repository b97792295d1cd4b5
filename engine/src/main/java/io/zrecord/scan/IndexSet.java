package io.zrecord.scan;

import java.io.Serializable;

/** SKELETON: an immutable set of indices, kept as sorted, disjoint, non-adjacent ranges. */
public final class IndexSet implements Serializable {
  public static IndexSet empty() {
    throw new UnsupportedOperationException();
  }

  /** {@code [from, to)}; empty if {@code from >= to}. */
  public static IndexSet range(long from, long to) {
    throw new UnsupportedOperationException();
  }

  public static IndexSet of(long... indices) {
    throw new UnsupportedOperationException();
  }

  public IndexSet union(IndexSet other) {
    throw new UnsupportedOperationException();
  }

  public IndexSet intersect(IndexSet other) {
    throw new UnsupportedOperationException();
  }

  /** The indices of {@code [0, length)} that are not in this set. */
  public IndexSet complement(long length) {
    throw new UnsupportedOperationException();
  }

  /** The {@code count} smallest after leaving out the {@code offset} smallest. */
  public IndexSet slice(long offset, long count) {
    throw new UnsupportedOperationException();
  }

  /** Every index moved by {@code delta}. */
  public IndexSet shift(long delta) {
    throw new UnsupportedOperationException();
  }

  public boolean isEmpty() {
    return true;
  }

  /** Number of indices. */
  public long count() {
    return 0;
  }

  public int rangeCount() {
    return 0;
  }

  public long rangeFrom(int range) {
    return 0;
  }

  public long rangeTo(int range) {
    return 0;
  }
}
