package io.zrecord.spark.scan;

import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import java.io.Serializable;
import java.util.Optional;

/**
 * A sample that Spark pushed down: {@code TABLESAMPLE} or {@code df.sample}. The seed and the place
 * alone decide whether a place is drawn, so neither partitions nor conditions nor the release of
 * Spark change the sample. Immutable.
 *
 * <p>The number of place {@code p} is {@code x = random(2⁵³, seed)} (SAMPLERS.md section 3) at
 * position {@code p} of epoch 2⁶³−1, divided by 2⁵³. Without replacement the place is drawn if
 * {@code lower <= x < upper}. With replacement it is drawn {@code k} times, where {@code k} is how
 * many of the running sums of the probabilities of a Poisson variable with the mean {@code upper -
 * lower} are at most {@code x}.
 *
 * @param lower lower limit of the drawn numbers, inclusive
 * @param upper upper limit of the drawn numbers, exclusive
 * @param withReplacement whether a record may be drawn several times
 * @param seed any seed
 */
record TableSample(double lower, double upper, boolean withReplacement, long seed)
    implements Serializable {
  private static final int NUMBER_BITS = 53;
  private static final double UNIT = 0x1p-53;

  /**
   * An epoch that no sampler reaches. A sampler with the same seed would draw the same numbers in
   * it.
   */
  private static final long EPOCH = Long.MAX_VALUE;

  /** Greatest mean for which a table of sums is a good way to draw. */
  private static final double MAX_MEAN = 64;

  /** Probabilities below this are left out of a table of sums. */
  private static final double NEGLIGIBLE = 0x1p-60;

  /** Returns a sample that can be drawn here; empty if Spark has to draw it. */
  static Optional<TableSample> of(double lower, double upper, boolean withReplacement, long seed) {
    boolean isDrawable = lower >= 0 && lower <= upper && (!withReplacement || upper <= MAX_MEAN);
    return isDrawable
        ? Optional.of(new TableSample(lower, upper, withReplacement, seed))
        : Optional.empty();
  }

  /** Returns how often a place is drawn on average. */
  double mean() {
    return withReplacement ? upper - lower : Math.min(1, upper) - Math.min(1, lower);
  }

  /** Returns an object that draws, for one thread. */
  Drawing drawing() {
    return new Drawing();
  }

  /** Draws places, one run after the other. Belongs to one thread. */
  final class Drawing {
    /** Greatest number of places in one call. */
    static final int MAX_RUN = 1024;

    private final Sampler source = Samplers.random(1L << NUMBER_BITS, seed);
    private final long[] numbers = new long[MAX_RUN];
    private final double[] sums = withReplacement ? sums(mean()) : new double[0];

    private Drawing() {}

    /** Returns the greatest number of entries that a run of this many places can have. */
    int most(int run) {
      return withReplacement ? Math.multiplyExact(run, sums.length) : run;
    }

    /**
     * Draws from the places {@code [first, first + run)}.
     *
     * @param run at most {@link #MAX_RUN}
     * @param less number subtracted from each place that is written
     * @param target has room for {@link #most} entries from {@code from} on
     * @return the number of entries written
     */
    int draw(long first, int run, long less, long[] target, int from) {
      source.indices(EPOCH, first, numbers, 0, run);
      int to = from;
      for (int i = 0; i < run; i++) {
        double number = numbers[i] * UNIT;
        if (withReplacement) {
          for (int k = 0; k < sums.length && number >= sums[k]; k++) {
            target[to++] = first + i - less;
          }
        } else if (number >= lower && number < upper) {
          target[to++] = first + i - less;
        }
      }
      return to - from;
    }
  }

  /**
   * Returns the probabilities that a Poisson variable is at most 0, 1, 2, …, as long as they grow.
   */
  private static double[] sums(double mean) {
    double[] sums = new double[1024];
    double term = StrictMath.exp(-mean);
    double sum = term;
    int count = 0;
    while (count < sums.length && (count <= mean || term > NEGLIGIBLE)) {
      sums[count++] = sum;
      term *= mean / count;
      sum += term;
    }
    return java.util.Arrays.copyOf(sums, count);
  }
}
