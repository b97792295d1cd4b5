package io.zrecord.spark.scan;

import io.zrecord.read.ValueRange;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

/** Makes few ranges of many single values. Stateless. */
final class FewRanges {
  /** Ranges that tasks are given at most, which each task looks through for each shard. */
  static final int MOST = 1 << 14;

  private static final Comparator<String> BY_BYTES = (a, b) -> Arrays.compareUnsigned(
      a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));

  private FewRanges() {}

  /**
   * Returns ranges that have all values of some ranges, each of which has one value of a field.
   * Integers that follow each other share a range. If more than {@value #MOST} ranges are left, one
   * range has them all, and the values between.
   */
  static List<ValueRange> of(List<ValueRange> values) {
    List<ValueRange> few = joined(values);
    if (few.size() <= MOST) {
      return few;
    }
    ValueRange any = few.get(0);
    if (any instanceof ValueRange.Integers first) {
      return List.of(new ValueRange.Integers(
          first.least(), ((ValueRange.Integers) few.get(few.size() - 1)).most()));
    }
    if (any instanceof ValueRange.Fractions) {
      List<Double> numbers =
          few.stream().map(range -> ((ValueRange.Fractions) range).least()).toList();
      return List.of(new ValueRange.Fractions(Collections.min(numbers), Collections.max(numbers)));
    }
    List<String> texts =
        few.stream().map(range -> ((ValueRange.Texts) range).least()).toList();
    return List.of(new ValueRange.Texts(
        Collections.min(texts, BY_BYTES),
        Objects.requireNonNull(Collections.max(texts, BY_BYTES))));
  }

  private static List<ValueRange> joined(List<ValueRange> values) {
    List<ValueRange.Integers> integers = values.stream()
        .filter(ValueRange.Integers.class::isInstance)
        .map(ValueRange.Integers.class::cast)
        .sorted(Comparator.comparingLong(ValueRange.Integers::least))
        .toList();
    if (integers.isEmpty()) {
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
    return joined;
  }
}
