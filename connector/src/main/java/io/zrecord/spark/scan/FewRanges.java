package io.zrecord.spark.scan;

import io.zrecord.read.ValueRange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Makes few ranges of many single values. Stateless. */
final class FewRanges {
  /** Ranges that tasks are given at most. */
  static final int MOST = 1 << 16;

  private FewRanges() {}

  /**
   * Returns ranges that have all values of some ranges, each of which has one value. Integers that
   * follow each other share a range. If there are more than {@value #MOST} ranges of integers, one
   * range has them all, and the values between.
   */
  static List<ValueRange> of(List<ValueRange> values) {
    List<ValueRange.Integers> integers = values.stream()
        .filter(ValueRange.Integers.class::isInstance)
        .map(ValueRange.Integers.class::cast)
        .sorted(Comparator.comparingLong(ValueRange.Integers::least))
        .toList();
    if (integers.isEmpty() || integers.size() < values.size()) {
      return values;
    }
    List<ValueRange> joined = new ArrayList<>();
    long least = integers.get(0).least();
    long most = integers.get(0).most();
    for (ValueRange.Integers value : integers) {
      if (value.least() > most && value.least() - 1 > most) {
        joined.add(new ValueRange.Integers(least, most));
        least = value.least();
      }
      most = Math.max(most, value.most());
    }
    joined.add(new ValueRange.Integers(least, most));
    return joined.size() <= MOST
        ? joined
        : List.of(new ValueRange.Integers(integers.get(0).least(), most));
  }
}
