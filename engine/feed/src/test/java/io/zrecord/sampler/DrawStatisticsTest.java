package io.zrecord.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.random.Lanes;
import io.zrecord.internal.random.Mixing;
import io.zrecord.internal.random.Words;
import io.zrecord.testing.Budget;
import java.util.Arrays;
import java.util.Random;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Draws have the probabilities they should, and each test notices draws that have not. */
class DrawStatisticsTest {
  private static final long SEED = Budget.seed();
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

  /**
   * Three halves of the words are the hardest length: a quarter is rejected, and a modulo counts
   * one third twice.
   */
  @Test
  void hugeLengthsHaveNoBias() {
    for (long length : new long[] {
      4_000_001,
      5_000_001,
      3L << 28,
      1L << 30,
      3L << 29,
      1L << 32,
      3L << 31,
      3L << 60,
      (1L << 61) + 1,
      (1L << 62) - 1
    }) {
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

  /**
   * A permutation of the positions, which would be the simplest way to make words of 32 bits,
   * repeats none.
   */
  @Test
  void halvesOfWordsRepeatAsOftenAsBirthdaysSay() {
    for (long stream = 0; stream < Budget.of(3); stream++) {
      long[] words = new long[1 << 20];
      for (int i = 0; i < words.length; i += Lanes.CHUNK) {
        Words.of(stream, 0).fill(i, 1, words, i, Lanes.CHUNK);
      }
      assertNormal(birthdays(mapped(words, word -> word >>> 32), 1L << 32));
      assertNormal(birthdays(mapped(words, word -> word & Lanes.LOWER), 1L << 32));
      assertNormal(birthdays(mapped(words, word -> (word >>> 16) & Lanes.LOWER), 1L << 32));
      assertNormal(birthdays(
          mapped(words, word -> (word ^ (word >>> 32)) & Lanes.LOWER), 1L << 32));
    }
    long[] permuted = new long[1 << 20];
    Arrays.setAll(permuted, i -> (i * Mixing.GAMMA) & Lanes.LOWER);
    assertBiased(birthdays(permuted, 1L << 32));
  }

  private static long[] mapped(long[] words, LongUnaryOperator function) {
    return Arrays.stream(words).map(function).toArray();
  }

  /**
   * Another bit of the position, the seed or the epoch changes every bit of the word as often as
   * not.
   */
  @Test
  void oneBitChangesHalfOfTheBitsOfAWord() {
    for (int bit = 0; bit < 62; bit++) {
      int other = bit;
      assertNormal(changes((i, p) -> Words.of(i, p).at(p), p -> p ^ (1L << other)));
    }
    for (int bit = 0; bit < 32; bit++) {
      int other = bit;
      assertNormal(changes(
          (i, p) -> Words.of(Mixing.key(Mixing.RANDOM, p, i), 7).at(7), p -> p ^ (1L << other)));
      assertNormal(changes(
          (i, p) -> Words.of(Mixing.key(Mixing.RANDOM, i, p), 7).at(7), p -> p ^ (1L << other)));
    }
    assertBiased(changes((i, p) -> (p + i) * Mixing.GAMMA, p -> p ^ (1L << 20)));
  }

  private static double changes(LongBinaryOperator word, LongUnaryOperator change) {
    int tries = 4096;
    long[] changed = new long[Long.SIZE];
    for (int i = 0; i < tries; i++) {
      long position = Mixing.mix(i) >>> 2;
      long difference =
          word.applyAsLong(i, position) ^ word.applyAsLong(i, change.applyAsLong(position));
      for (int bit = 0; bit < Long.SIZE; bit++) {
        changed[bit] += (difference >>> bit) & 1;
      }
    }
    double square = 0;
    for (long count : changed) {
      square += (count - tries / 2.0) * (count - tries / 2.0) / (tries / 4.0);
    }
    return Statistics.standardized(square, Long.SIZE);
  }

  /** Seeds and epochs have keys of their own, so that no stream is another one further on. */
  @Test
  void streamsAreUnrelated() {
    long[] first = Orders.prefix(Samplers.random(1L << 32, SEED), 0, 100_000);
    for (long epoch = 1; epoch < 20; epoch++) {
      long[] other = Orders.prefix(Samplers.random(1L << 32, SEED), epoch, 100_000);
      assertNormal(Statistics.correlation(first, other));
      assertNormal(Statistics.sameDirection(first, other));
      long[] both =
          LongStream.concat(Arrays.stream(first), Arrays.stream(other)).toArray();
      assertNormal(birthdays(both, 1L << 32));
    }
    Sampler shifted = Samplers.random(1L << 32, SEED).skip(1000);
    long[] both = LongStream.concat(
            Arrays.stream(first), Arrays.stream(Orders.prefix(shifted, 0, 100_000)))
        .toArray();
    assertBiased(birthdays(both, 1L << 32));
  }

  private static double birthdays(long[] draws, long length) {
    double expected = (double) draws.length * (draws.length - 1) / 2 / length;
    long[] sorted = draws.clone();
    Arrays.sort(sorted);
    int repeats = 0;
    for (int i = 1; i < sorted.length; i++) {
      repeats += sorted[i] == sorted[i - 1] ? 1 : 0;
    }
    return Statistics.standardizedCount(repeats, expected);
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
    return Statistics.standardized(square, used);
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
    assertThat(statistic).isBetween(-Statistics.NORMAL, Statistics.NORMAL);
  }

  private static void assertBiased(double statistic) {
    assertThat(Math.abs(statistic)).isGreaterThan(BIASED);
  }
}
