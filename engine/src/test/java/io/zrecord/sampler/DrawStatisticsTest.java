package io.zrecord.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Draws have the probabilities they should, and each test notices draws that have not. Seed 2024. */
class DrawStatisticsTest {
  private static final long SEED = 2024;
  private static final double NORMAL = 4.5;
  private static final double BIASED = 10;
  private static final int DRAWS = 1_000_000;

  @Test
  void everyIndexIsEquallyLikely() {
    for (int length : new int[] {2, 3, 7, 1000, 1024, 65_537}) {
      for (long epoch = 0; epoch < 3; epoch++) {
        assertNormal(Statistics.chiSquare(counts(Samplers.random(length, SEED), epoch, length)));
      }
      assertNormal(
          Statistics.chiSquare(counts(Samplers.global(length, 1, SEED).take(100_000), 0, length)));
    }
    Sampler modulo =
        new FunctionSampler(DRAWS, (epoch, position) -> (Mixing.mix(position) & 4095) % 1000);
    assertBiased(Statistics.chiSquare(counts(modulo, 0, 1000)));
  }

  /** Three halves of the words are the hardest length: a quarter is rejected, and a modulo counts one third twice. */
  @Test
  void hugeLengthsHaveNoBias() {
    for (long length : new long[] {3L << 60, (1L << 61) + 1, (1L << 62) - 1}) {
      long part = length / 96 + 1;
      long[] parts = Arrays.stream(Orders.prefix(Samplers.random(length, SEED), 0, DRAWS))
          .map(i -> i / part)
          .toArray();
      assertNormal(Statistics.chiSquare(count(parts, 96)));
      long[] low = Arrays.stream(Orders.prefix(Samplers.random(length, SEED), 1, DRAWS))
          .map(i -> i & 63)
          .toArray();
      assertNormal(Statistics.chiSquare(count(low, 64)));
    }
    long length = 3L << 60;
    long[] modulo = new long[DRAWS];
    Arrays.setAll(modulo, i -> (Mixing.mix(i) >>> 2) % length / (length / 96));
    assertBiased(Statistics.chiSquare(count(modulo, 96)));
  }

  @Test
  void drawsAreIndependentOfEachOther() {
    long[] order = Orders.prefix(Samplers.random(1000, SEED), 0, DRAWS);
    for (int lag : new int[] {1, 2, 7, 256, 1024}) {
      assertNormal(Statistics.serialCorrelation(order, lag));
      long[] pairs = new long[100 * 100];
      for (int i = lag; i < order.length; i++) {
        pairs[(int) (order[i - lag] / 10 * 100 + order[i] / 10)]++;
      }
      assertNormal(Statistics.chiSquare(pairs));
    }
    assertNormal(
        Statistics.correlation(order, Orders.prefix(Samplers.random(1000, SEED), 1, DRAWS)));
    assertNormal(
        Statistics.correlation(order, Orders.prefix(Samplers.random(1000, SEED + 1), 0, DRAWS)));
    long[] weyl = new long[DRAWS];
    Arrays.setAll(weyl, i -> Math.multiplyHigh((i * Mixing.GAMMA) >>> 1, 2000));
    assertBiased(Statistics.serialCorrelation(weyl, 1));
  }

  @Test
  void repeatsAreAsManyAsBirthdaysSay() {
    for (long length : new long[] {1L << 32, (1L << 33) + 7}) {
      assertNormal(birthdays(Orders.prefix(Samplers.random(length, SEED), 0, DRAWS), length));
    }
    assertBiased(birthdays(Orders.prefix(Samplers.shuffle(1L << 32, SEED), 0, DRAWS), 1L << 32));
  }

  private static double birthdays(long[] draws, long length) {
    double expected = (double) draws.length * (draws.length - 1) / 2 / length;
    long repeats = draws.length - Arrays.stream(draws).distinct().count();
    return (repeats - expected) / Math.sqrt(expected);
  }

  @Test
  void weightsAreProbabilities() {
    Random random = new Random(SEED);
    double[] weights = random.doubles(500).map(x -> x * x * x).toArray();
    weights[17] = 0;
    weights[0] = 40;
    double sum = Arrays.stream(weights).sum();
    Sampler weighted = Samplers.weighted(weights, SEED);
    for (long epoch = 0; epoch < 3; epoch++) {
      assertNormal(weightedChiSquare(counts(weighted, epoch, 500), weights, sum));
    }
    assertThat(counts(weighted, 0, 500)[17]).isZero();
    double[] rounded = Arrays.stream(weights).map(x -> Math.ceil(x * 4)).toArray();
    assertBiased(weightedChiSquare(counts(Samplers.weighted(rounded, SEED), 0, 500), weights, sum));
  }

  private static double weightedChiSquare(long[] counts, double[] weights, double sum) {
    double square = 0;
    int used = 0;
    for (int i = 0; i < counts.length; i++) {
      double expected = weights[i] / sum * DRAWS;
      if (expected > 5) {
        square += (counts[i] - expected) * (counts[i] - expected) / expected;
        used++;
      }
    }
    return (square - used) / Math.sqrt(2.0 * used);
  }

  @Test
  void oneWeightAndEqualWeightsWork() {
    assertThat(Orders.prefix(Samplers.weighted(new double[] {3}, 1), 0, 5)).containsOnly(0);
    assertThat(Orders.prefix(Samplers.weighted(new double[] {0, 0, 1e-300, 0}, 1), 0, 500))
        .containsOnly(2);
    double[] equal = new double[37];
    Arrays.fill(equal, 1e300);
    assertNormal(Statistics.chiSquare(counts(Samplers.weighted(equal, SEED), 0, 37)));
  }

  private static long[] counts(Sampler sampler, long epoch, int length) {
    int draws = (int) Math.min(DRAWS, sampler.length());
    return count(Orders.prefix(sampler, epoch, draws), length);
  }

  private static long[] count(long[] values, int length) {
    long[] counts = new long[length];
    for (long value : values) {
      counts[(int) value]++;
    }
    return counts;
  }

  private static void assertNormal(double statistic) {
    assertThat(statistic).isBetween(-NORMAL, NORMAL);
  }

  private static void assertBiased(double statistic) {
    assertThat(Math.abs(statistic)).isGreaterThan(BIASED);
  }
}
