package io.zrecord.changes;

import io.zrecord.read.IndexSet;

/**
 * Says which index each record that is in two versions has in either, if the order of these records
 * is the same. Takes linear time in the runs of neighbours. Immutable.
 *
 * @param deleted indices in the version before of records that the other version does not have
 * @param inserted indices in the version after of records that the other version does not have
 */
record Renumbering(IndexSet deleted, IndexSet inserted) {

  /** Returns the indices in the version after of records that were not deleted. */
  IndexSet toAfter(IndexSet before) {
    return opened(closed(before, deleted), inserted);
  }

  /** Returns the indices in the version before of records that were not inserted. */
  IndexSet toBefore(IndexSet after) {
    return opened(closed(after, inserted), deleted);
  }

  /** Returns the ordinal of each index among those that are not in the gaps. */
  private static IndexSet closed(IndexSet set, IndexSet gaps) {
    IndexSet.Builder closed = new IndexSet.Builder();
    long skipped = 0;
    int gap = 0;
    for (int range = 0; range < set.rangeCount(); range++) {
      for (; gap < gaps.rangeCount() && gaps.rangeFrom(gap) < set.rangeFrom(range); gap++) {
        skipped += lengthOf(gaps, gap);
      }
      closed.add(set.rangeFrom(range) - skipped, set.rangeTo(range) - skipped);
    }
    return closed.build();
  }

  /** Returns the index of each ordinal among those that are not in the gaps. */
  private static IndexSet opened(IndexSet set, IndexSet gaps) {
    IndexSet.Builder opened = new IndexSet.Builder();
    long skipped = 0;
    int gap = 0;
    for (int range = 0; range < set.rangeCount(); range++) {
      long from = set.rangeFrom(range);
      while (from < set.rangeTo(range)) {
        for (; gap < gaps.rangeCount() && gaps.rangeFrom(gap) - skipped <= from; gap++) {
          skipped += lengthOf(gaps, gap);
        }
        long to = gap == gaps.rangeCount()
            ? set.rangeTo(range)
            : Math.min(set.rangeTo(range), gaps.rangeFrom(gap) - skipped);
        opened.add(from + skipped, to + skipped);
        from = to;
      }
    }
    return opened.build();
  }

  private static long lengthOf(IndexSet set, int range) {
    return set.rangeTo(range) - set.rangeFrom(range);
  }
}
