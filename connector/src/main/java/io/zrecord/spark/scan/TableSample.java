package io.zrecord.spark.scan;

import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import java.io.Serializable;
import java.util.Optional;

/**
 * A sample that Spark handed down: {@code TABLESAMPLE} or {@code df.sample}. Which places it draws
 * is a function of the seed and the place, so neither partitions nor conditions nor the release of
 * Spark change it. Immutable.
 *
 * <p>The number of place {@code p} is {@code x = random(2⁵³, seed)} (SAMPLERS.md section 3) at
 * position {@code p} of epoch 2⁶³−1, divided by 2⁵³. Without replacement the place is drawn if
 * {@code lower <= x < upper}. With replacement it is drawn {@code k} times, where {@code k} is how
 * many of the running sums of the probabilities of a Poisson variable with the mean {@code upper -
 * lower} are at most {@code x}.
 *
 * @param lower below the numbers that are drawn
 * @param upper above them
 * @param withReplacement whether a record may be drawn several times
 * @param seed any
 */
record TableSample(double lower, double upper, boolean withReplacement, long seed)
    implements Serializable {
  private static final int NUMBER_BITS = 53;
  private static final double UNIT = 0x1p-53;

  /**
   * No epoch of a sampler with the same seed, which would draw the same numbers, is ever that one.
   */
  private static final long EPOCH = Long.MAX_VALUE;

  /** With a larger one a table of sums is no good way to draw. */
  private static final double MAX_MEAN = 64;

  /** Less than this a table of sums leaves out. */
  private static final double NEGLIGIBLE = 0x1p-60;

  /** A sample that can be drawn here; empty if Spark has to do it. */
  static Optional<TableSample> of(double lower, double upper, boolean withReplacement, long seed) {
    boolean isDrawable = lower >= 0 && lower <= upper && (!withReplacement || upper <= MAX_MEAN);
    return isDrawable
        ? Optional.of(new TableSample(lower, upper, withReplacement, seed))
        : Optional.empty();
  }

  /** How often a place is drawn on average. */
  double mean() {
    return withReplacement ? upper - lower : Math.min(1, upper) - Math.min(1, lower);
  }

  /** Draws for one thread. */
  Drawing drawing() {
    return new Drawing();
  }

  /** Draws places one run after the other. One thread. */
  final class Drawing {
    /** Places looked at in one call. */
    static final int MAX_RUN = 1024;

    private final Sampler source = Samplers.random(1L << NUMBER_BITS, seed);
    private final long[] numbers = new long[MAX_RUN];
    private final double[] sums = withReplacement ? sums(mean()) : new double[0];

    private Drawing() {}

    /** Most entries that a run of that many places can have. */
    int most(int run) {
      return withReplacement ? Math.multiplyExact(run, sums.length) : run;
    }

    /**
     * Draws from the places {@code [first, first + run)}.
     *
     * @param run at most {@link #MAX_RUN}
     * @param less what is taken off each place that is written
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

  /** The probabilities that a Poisson variable is at most 0, 1, 2, …, while they grow. */
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
