package io.zrecord.sampler;

import java.util.Arrays;

/**
 * Test statistics, each standardized: about normal with mean 0 and deviation 1 for a perfect
 * sampler, in the tails as well.
 */
final class Statistics {
  /**
   * A perfect sampler exceeds this in one of 10¹³ statistics. All tests together have less than ten
   * thousand at scale 5, so they fail for one of 10⁹ seeds.
   */
  static final double NORMAL = 7.5;

  private Statistics() {}

  /**
   * Standardizes a χ². Source: Wilson, Hilferty, The Distribution of Chi-square, 1931. Less the
   * mean, by the deviation, would be far from normal in the tails if there are few degrees of
   * freedom.
   */
  static double standardized(double chiSquare, double freedom) {
    double variance = 2 / (9 * freedom);
    return (Math.cbrt(chiSquare / freedom) - (1 - variance)) / Math.sqrt(variance);
  }

  /**
   * Standardizes a count of rare events. Source: Anscombe, The Transformation of Poisson, Binomial
   * and Negative-binomial Data, 1948.
   */
  static double standardizedCount(double count, double expected) {
    return 2 * (Math.sqrt(count + 0.375) - Math.sqrt(expected + 0.125));
  }

  /** Returns Pearson's χ² of counts against equal expectations. */
  static double chiSquare(long[] counts) {
    double sum = 0;
    for (long count : counts) {
      sum += count;
    }
    double expected = sum / counts.length;
    double square = 0;
    for (long count : counts) {
      square += (count - expected) * (count - expected) / expected;
    }
    return standardized(square, counts.length - 1.0);
  }

  /**
   * Returns χ² of cells (position, index), both in {@code parts} parts, over some epochs of a whole
   * order.
   */
  static double positionsAndValues(Sampler sampler, int parts, int epochs) {
    int length = (int) sampler.length();
    long[] counts = new long[parts * parts];
    for (int epoch = 0; epoch < epochs; epoch++) {
      long[] order = Orders.epoch(sampler, epoch);
      for (int i = 0; i < length; i++) {
        counts[(int) ((long) i * parts / length * parts + order[i] * parts / length)]++;
      }
    }
    double square = 0;
    for (int cell = 0; cell < counts.length; cell++) {
      double expected = (double) epochs
          * partLength(length, parts, cell / parts)
          * partLength(length, parts, cell % parts)
          / length;
      square += (counts[cell] - expected) * (counts[cell] - expected) / expected;
    }
    // Rows and columns have fixed sums in every epoch.
    return standardized(square, (parts - 1.0) * (parts - 1));
  }

  /** Returns how many of {@code [0, length)} fall into a part. */
  private static int partLength(int length, int parts, int part) {
    return ((part + 1) * length + parts - 1) / parts - (part * length + parts - 1) / parts;
  }

  /** Returns the correlation of one sequence with another. */
  static double correlation(long[] one, long[] other) {
    double meanOne = mean(one);
    double meanOther = mean(other);
    double cross = 0;
    double squareOne = 0;
    double squareOther = 0;
    for (int i = 0; i < one.length; i++) {
      cross += (one[i] - meanOne) * (other[i] - meanOther);
      squareOne += (one[i] - meanOne) * (one[i] - meanOne);
      squareOther += (other[i] - meanOther) * (other[i] - meanOther);
    }
    return cross / Math.sqrt(squareOne * squareOther) * Math.sqrt(one.length);
  }

  private static double mean(long[] values) {
    double sum = 0;
    for (long value : values) {
      sum += value;
    }
    return sum / values.length;
  }

  /** Returns the correlation of indices with those {@code lag} positions later. */
  static double serialCorrelation(long[] order, int lag) {
    long[] early = Arrays.copyOf(order, order.length - lag);
    long[] late = Arrays.copyOfRange(order, lag, order.length);
    return correlation(early, late);
  }

  /**
   * Counts positions that hold their own number, over some epochs, as deviations; one an epoch is
   * expected, with variance one.
   */
  static double fixedPoints(Sampler sampler, int epochs) {
    long found = 0;
    for (int epoch = 0; epoch < epochs; epoch++) {
      long[] order = Orders.epoch(sampler, epoch);
      for (int i = 0; i < order.length; i++) {
        found += order[i] == i ? 1 : 0;
      }
    }
    return (found - epochs) / Math.sqrt(epochs);
  }

  /**
   * Counts pairs in falling order, in an order of distinct indices, as a deviation; half of all
   * pairs are expected.
   */
  static double inversions(long[] order) {
    double n = order.length;
    double expected = n * (n - 1) / 4;
    double variance = n * (n - 1) * (2 * n + 5) / 72;
    return (countInversions(order.clone(), new long[order.length], 0, order.length) - expected)
        / Math.sqrt(variance);
  }

  /** Sorts the values, and counts the pairs in falling order. */
  static long countInversions(long[] values, long[] spare, int from, int to) {
    if (to - from < 2) {
      return 0;
    }
    int middle = (from + to) >>> 1;
    long count =
        countInversions(values, spare, from, middle) + countInversions(values, spare, middle, to);
    int left = from;
    int right = middle;
    for (int i = from; i < to; i++) {
      if (right == to || (left < middle && values[left] <= values[right])) {
        spare[i] = values[left++];
      } else {
        spare[i] = values[right++];
        count += middle - left;
      }
    }
    System.arraycopy(spare, from, values, from, to - from);
    return count;
  }

  /**
   * Counts pairs {@code (order[2i], order[2i + 1])} that rise in both orders or in none, as a
   * deviation; half of all pairs are expected.
   */
  static double sameDirection(long[] one, long[] other) {
    long same = 0;
    int pairs = one.length / 2;
    for (int i = 0; i < pairs; i++) {
      same += (one[2 * i] < one[2 * i + 1]) == (other[2 * i] < other[2 * i + 1]) ? 1 : 0;
    }
    return (same - pairs / 2.0) / Math.sqrt(pairs / 4.0);
  }

  /** Returns the number of an order of few indices among all orders. */
  static int rankOf(long[] order) {
    int rank = 0;
    for (int i = 0; i < order.length; i++) {
      int smaller = 0;
      for (int j = i + 1; j < order.length; j++) {
        smaller += order[j] < order[i] ? 1 : 0;
      }
      rank = rank * (order.length - i) + smaller;
    }
    return rank;
  }

  /** Returns χ² of all orders of a few indices over some epochs. */
  static double allOrders(Sampler sampler, int epochs) {
    int orders = 1;
    for (int i = 2; i <= sampler.length(); i++) {
      orders *= i;
    }
    long[] counts = new long[orders];
    for (int epoch = 0; epoch < epochs; epoch++) {
      counts[rankOf(Orders.epoch(sampler, epoch))]++;
    }
    return chiSquare(counts);
  }
}
