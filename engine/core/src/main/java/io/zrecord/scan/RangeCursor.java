package io.zrecord.scan;

import io.zrecord.read.IndexSet;

/** Consumes a set of indices from its beginning, in one pass. Belongs to one thread. */
final class RangeCursor {
  private final IndexSet set;
  private int range;
  private long next;

  RangeCursor(IndexSet set) {
    this.set = set;
    this.next = set.isEmpty() ? 0 : set.rangeFrom(0);
  }

  boolean isAtEnd() {
    return range == set.rangeCount();
  }

  /** Returns the smallest index not taken yet. Not to be called at the end. */
  long next() {
    return next;
  }

  /** Takes the {@code count} smallest remaining indices. */
  IndexSet take(long count) {
    IndexSet.Builder taken = new IndexSet.Builder();
    long left = count;
    while (left > 0 && !isAtEnd()) {
      long to = Math.min(set.rangeTo(range), next + Math.min(left, Long.MAX_VALUE - next));
      left -= to - next;
      advance(taken, to);
    }
    return taken.build();
  }

  /** Takes the remaining indices below {@code end}. */
  IndexSet takeBelow(long end) {
    IndexSet.Builder taken = new IndexSet.Builder();
    while (!isAtEnd() && next < end) {
      advance(taken, Math.min(set.rangeTo(range), end));
    }
    return taken.build();
  }

  /** Takes the remaining indices below {@code end} and returns their number. */
  long countBelow(long end) {
    long count = 0;
    while (!isAtEnd() && next < end) {
      long to = Math.min(set.rangeTo(range), end);
      count += to - next;
      moveTo(to);
    }
    return count;
  }

  private void advance(IndexSet.Builder taken, long to) {
    taken.add(next, to);
    moveTo(to);
  }

  private void moveTo(long to) {
    next = to;
    if (to == set.rangeTo(range)) {
      range++;
      next = isAtEnd() ? to : set.rangeFrom(range);
    }
  }
}
