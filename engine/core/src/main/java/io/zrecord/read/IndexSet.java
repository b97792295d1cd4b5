package io.zrecord.read;

import java.io.Serializable;
import java.util.Arrays;

/**
 * An immutable set of indices, kept as sorted, disjoint, non-adjacent ranges. Every index is in
 * {@code [0, 2⁶³−1)}. Indices outside are left out, because no record has such an index. A range
 * takes 16 bytes; union, intersection and complement are linear in the number of ranges.
 * Thread-safe.
 */
public final class IndexSet implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final IndexSet EMPTY = new IndexSet(new long[0]);

  /** The bounds from₀, to₀, from₁, to₁, …: strictly rising. */
  private final long[] bounds;

  private final long count;

  private IndexSet(long[] bounds) {
    this.bounds = bounds;
    long sum = 0;
    for (int i = 0; i < bounds.length; i += 2) {
      sum += bounds[i + 1] - bounds[i];
    }
    this.count = sum;
  }

  /** Returns the set without indices. */
  public static IndexSet empty() {
    return EMPTY;
  }

  /** Returns {@code [from, to)}; empty if {@code from >= to}. */
  public static IndexSet range(long from, long to) {
    long first = Math.max(0, from);
    return first >= to ? EMPTY : new IndexSet(new long[] {first, to});
  }

  /** Returns the set of the given indices, in any order. Duplicates count once. */
  public static IndexSet of(long... indices) {
    long[] sorted = indices.clone();
    Arrays.sort(sorted);
    Builder builder = new Builder();
    for (long index : sorted) {
      if (index >= 0 && index < Long.MAX_VALUE) {
        builder.add(index, index + 1);
      }
    }
    return builder.build();
  }

  /** Returns the indices that are in this set or in the other. */
  public IndexSet union(IndexSet other) {
    if (isEmpty()) {
      return other;
    }
    if (other.isEmpty()) {
      return this;
    }
    Builder builder = new Builder();
    int i = 0;
    int j = 0;
    while (i < bounds.length || j < other.bounds.length) {
      boolean mine =
          j == other.bounds.length || (i < bounds.length && bounds[i] <= other.bounds[j]);
      if (mine) {
        builder.add(bounds[i], bounds[i + 1]);
        i += 2;
      } else {
        builder.add(other.bounds[j], other.bounds[j + 1]);
        j += 2;
      }
    }
    return builder.build();
  }

  /** Returns the indices that are in both sets. */
  public IndexSet intersect(IndexSet other) {
    Builder builder = new Builder();
    int i = 0;
    int j = 0;
    while (i < bounds.length && j < other.bounds.length) {
      builder.add(
          Math.max(bounds[i], other.bounds[j]), Math.min(bounds[i + 1], other.bounds[j + 1]));
      if (bounds[i + 1] <= other.bounds[j + 1]) {
        i += 2;
      } else {
        j += 2;
      }
    }
    return builder.build();
  }

  /** Returns the indices that are in this set and not in the other. */
  public IndexSet minus(IndexSet other) {
    if (isEmpty() || other.isEmpty()) {
      return this;
    }
    return intersect(other.complement(bounds[bounds.length - 1]));
  }

  /** Returns the indices of {@code [0, length)} that are not in this set. */
  public IndexSet complement(long length) {
    Builder builder = new Builder();
    long next = 0;
    for (int i = 0; i < bounds.length && next < length; i += 2) {
      builder.add(next, Math.min(bounds[i], length));
      next = bounds[i + 1];
    }
    builder.add(next, length);
    return builder.build();
  }

  /**
   * Returns the {@code count} smallest indices after the {@code offset} smallest.
   *
   * @throws IllegalArgumentException if either is negative
   */
  public IndexSet slice(long offset, long count) {
    if (offset < 0 || count < 0) {
      throw new IllegalArgumentException(
          "Cannot take " + count + " indices after " + offset + ": neither may be negative");
    }
    Builder builder = new Builder();
    long skip = offset;
    long left = count;
    for (int i = 0; i < bounds.length && left > 0; i += 2) {
      long length = bounds[i + 1] - bounds[i];
      if (skip >= length) {
        skip -= length;
        continue;
      }
      long taken = Math.min(left, length - skip);
      builder.add(bounds[i] + skip, bounds[i] + skip + taken);
      left -= taken;
      skip = 0;
    }
    return builder.build();
  }

  /**
   * Returns the set with every index moved by {@code delta}.
   *
   * @throws IllegalArgumentException if an index would become negative
   * @throws ArithmeticException if an index would become 2⁶³−1 or more
   */
  public IndexSet shift(long delta) {
    if (delta == 0 || isEmpty()) {
      return this;
    }
    if (bounds[0] + delta < 0 && delta < 0) {
      throw new IllegalArgumentException(
          "Cannot move index " + bounds[0] + " by " + delta + ": indices are >= 0");
    }
    long[] moved = new long[bounds.length];
    for (int i = 0; i < bounds.length; i++) {
      moved[i] = Math.addExact(bounds[i], delta);
    }
    return new IndexSet(moved);
  }

  /** Tells whether the index is in this set, in logarithmic time. */
  public boolean contains(long index) {
    int place = Arrays.binarySearch(bounds, index);
    return place >= 0 ? place % 2 == 0 : (-place - 1) % 2 == 1;
  }

  public boolean isEmpty() {
    return bounds.length == 0;
  }

  /** Returns the number of indices. */
  public long count() {
    return count;
  }

  /** Returns the number of ranges. */
  public int rangeCount() {
    return bounds.length / 2;
  }

  /** Returns the first index of a range. Ranges are numbered from 0 in rising order. */
  public long rangeFrom(int range) {
    return bounds[2 * range];
  }

  /** Returns the index after the last index of a range. */
  public long rangeTo(int range) {
    return bounds[2 * range + 1];
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof IndexSet set && Arrays.equals(bounds, set.bounds);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bounds);
  }

  /** Describes the first ranges and the totals, for messages. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < Math.min(rangeCount(), 4); i++) {
      text.append('[').append(rangeFrom(i)).append(", ").append(rangeTo(i)).append(") ");
    }
    return text.append(rangeCount() > 4 ? "… " : "")
        .append(count)
        .append(" indices in ")
        .append(rangeCount())
        .append(" ranges")
        .toString();
  }

  /**
   * Collects ranges in rising order of their first index. Overlapping and adjacent ranges are
   * merged.
   */
  public static final class Builder {
    private long[] bounds = new long[8];
    private int used;

    /**
     * Adds {@code [from, to)}, which must not begin before a range added earlier. Does nothing if
     * the range is empty.
     */
    public void add(long from, long to) {
      if (from >= to) {
        return;
      }
      if (used > 0 && from <= bounds[used - 1]) {
        bounds[used - 1] = Math.max(bounds[used - 1], to);
        return;
      }
      if (used == bounds.length) {
        bounds = Arrays.copyOf(bounds, Math.multiplyExact(2, used));
      }
      bounds[used++] = from;
      bounds[used++] = to;
    }

    /** Returns the set of the added ranges. */
    public IndexSet build() {
      return used == 0 ? EMPTY : new IndexSet(Arrays.copyOf(bounds, used));
    }
  }
}
