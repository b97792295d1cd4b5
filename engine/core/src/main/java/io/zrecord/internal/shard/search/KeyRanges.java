package io.zrecord.internal.shard.search;

import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.format.ValueOrder;
import java.util.ArrayList;
import java.util.List;

/** Ranges of keys that have no key in common, in rising order. Immutable. */
final class KeyRanges {
  private final List<KeyRange> ranges;

  private KeyRanges(List<KeyRange> ranges) {
    this.ranges = List.copyOf(ranges);
  }

  /** Joins ranges that have keys in common, and leaves out those without a key. */
  static KeyRanges of(List<KeyRange> all) {
    List<KeyRange> sorted = all.stream()
        .filter(range -> !range.isEmpty())
        .sorted(
            (a, b) -> ValueOrder.compare(a.leastHigh(), a.leastLow(), b.leastHigh(), b.leastLow()))
        .toList();
    List<KeyRange> joined = new ArrayList<>();
    for (KeyRange range : sorted) {
      KeyRange last = joined.isEmpty() ? null : joined.get(joined.size() - 1);
      if (last == null || isBefore(last, range.leastHigh(), range.leastLow())) {
        joined.add(range);
      } else if (isBefore(last, range.mostHigh(), range.mostLow())) {
        joined.set(
            joined.size() - 1,
            new KeyRange(last.leastHigh(), last.leastLow(), range.mostHigh(), range.mostLow()));
      }
    }
    return new KeyRanges(joined);
  }

  private static boolean isBefore(KeyRange range, long high, long low) {
    return ValueOrder.compare(range.mostHigh(), range.mostLow(), high, low) < 0;
  }

  List<KeyRange> list() {
    return ranges;
  }

  /** Tells whether a value of some may be within a range, by their statistics. */
  boolean mayHave(StatisticsRecord values) {
    if (ranges.isEmpty()) {
      return false;
    }
    // NaN has the greatest key, which is no bound of statistics.
    boolean hasGreatest = ranges.get(ranges.size() - 1).mostHigh() == -1;
    return !values.isKnown()
        || (hasGreatest && values.nanCount() > 0)
        || meet(values.leastHigh(), values.leastLow(), values.mostHigh(), values.mostLow());
  }

  private boolean meet(long leastHigh, long leastLow, long mostHigh, long mostLow) {
    int low = 0;
    int high = ranges.size();
    while (low < high) { // Finds the first range that does not end before.
      int middle = (low + high) >>> 1;
      if (isBefore(ranges.get(middle), leastHigh, leastLow)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low < ranges.size()
        && ValueOrder.compare(
                ranges.get(low).leastHigh(), ranges.get(low).leastLow(), mostHigh, mostLow)
            <= 0;
  }
}
