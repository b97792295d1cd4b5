package io.zrecord.inspect;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A histogram of sizes in bytes. The buckets are 0, 1, 2 to 3, 4 to 7, and so on up to 2⁶³−1.
 * Immutable.
 */
public final class SizeHistogram implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final int BUCKETS = Long.SIZE;

  /** The histogram of nothing. */
  public static final SizeHistogram EMPTY = new SizeHistogram(new long[BUCKETS]);

  private final long[] counts;

  /**
   * The sizes between two bounds.
   *
   * @param fromBytes least size, 0 or a power of two
   * @param toBytes greatest size
   * @param count number of sizes between the bounds, > 0
   */
  public record Bucket(long fromBytes, long toBytes, long count) implements Serializable {}

  private SizeHistogram(long[] counts) {
    this.counts = counts;
  }

  /** Returns the buckets that are not empty, in rising order. */
  public List<Bucket> buckets() {
    List<Bucket> buckets = new ArrayList<>();
    for (int i = 0; i < BUCKETS; i++) {
      if (counts[i] > 0) {
        long from = i == 0 ? 0 : 1L << (i - 1);
        buckets.add(new Bucket(from, i == 0 ? 0 : 2 * (from - 1) + 1, counts[i]));
      }
    }
    return buckets;
  }

  /** Returns the number of sizes counted. */
  public long count() {
    return Arrays.stream(counts).sum();
  }

  /**
   * Returns the sum of this histogram and another.
   *
   * @throws ArithmeticException if a sum exceeds 2⁶³−1
   */
  public SizeHistogram plus(SizeHistogram other) {
    Builder sum = new Builder();
    sum.add(this);
    sum.add(other);
    return sum.build();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof SizeHistogram that && Arrays.equals(counts, that.counts);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(counts);
  }

  @Override
  public String toString() {
    return buckets().toString();
  }

  /** Counts sizes. Belongs to one thread. */
  static final class Builder {
    private final long[] counts = new long[BUCKETS];

    void add(long sizeBytes, long count) {
      int bucket = Long.SIZE - Long.numberOfLeadingZeros(sizeBytes);
      counts[bucket] = Math.addExact(counts[bucket], count);
    }

    void add(SizeHistogram histogram) {
      for (int i = 0; i < BUCKETS; i++) {
        counts[i] = Math.addExact(counts[i], histogram.counts[i]);
      }
    }

    SizeHistogram build() {
      return new SizeHistogram(counts.clone());
    }
  }
}
