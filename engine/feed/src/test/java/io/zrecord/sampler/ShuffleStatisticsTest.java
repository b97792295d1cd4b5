package io.zrecord.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.random.Mixing;
import io.zrecord.internal.random.Permutation;
import io.zrecord.internal.random.WideNetwork;
import io.zrecord.testing.Budget;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * Shuffles look random, and each test notices an order that is not: every method ends with its
 * control.
 */
class ShuffleStatisticsTest {
  private static final long SEED = Budget.seed();
  private static final double BIASED = 10;
  private static final int LENGTH = 10_007;
  private static final int EPOCHS = Math.max(80, Budget.of(400));

  private final Sampler shuffle = Samplers.shuffle(LENGTH, SEED);
  private final Sampler rotation = new FunctionSampler(LENGTH, ShuffleStatisticsTest::rotated);
  private final Sampler buffered = buffered(LENGTH, 2000);

  @Test
  void everyIndexIsEquallyLikelyAtEveryPosition() {
    for (int length : new int[] {100, 1000, 1024, LENGTH}) {
      assertNormal(Statistics.positionsAndValues(Samplers.shuffle(length, SEED), 20, EPOCHS));
    }
    Sampler blocks = Samplers.blockShuffle(9800, 7, 0, SEED);
    Sampler blockOrder =
        new FunctionSampler(1400, (epoch, position) -> blocks.index(epoch, position * 7) / 7);
    assertNormal(Statistics.positionsAndValues(blockOrder, 20, EPOCHS));
    assertBiased(Statistics.positionsAndValues(buffered, 20, 400));
  }

  @Test
  void neighboursAreUncorrelated() {
    for (int length : new int[] {LENGTH, 1 << 16, 1_000_000}) {
      for (int lag : new int[] {1, 2, 3, 8, 255, 256, 257}) {
        for (long epoch = 0; epoch < 3; epoch++) {
          assertNormal(Statistics.serialCorrelation(
              Orders.epoch(Samplers.shuffle(length, SEED), epoch), lag));
        }
      }
    }
    assertBiased(Statistics.serialCorrelation(Orders.epoch(rotation, 1), 1));
    assertBiased(Statistics.serialCorrelation(Orders.epoch(buffered, 1), 1));
  }

  @Test
  void anEpochHasOneFixedPointOnAverage() {
    for (int length : new int[] {2, 3, 10, 256, 257, 5000}) {
      assertNormal(Statistics.fixedPoints(
          Samplers.shuffle(length, SEED), Math.max(1000, Budget.of(10_000))));
    }
    assertBiased(Statistics.fixedPoints(
        new FunctionSampler(5000, (epoch, position) -> (position + 1 + epoch % 4999) % 5000), 500));
  }

  @Test
  void halfOfAllPairsAreInverted() {
    for (int length : new int[] {1000, 4096, LENGTH, 1 << 20}) {
      for (long epoch = 0; epoch < Budget.of(5); epoch++) {
        assertNormal(Statistics.inversions(Orders.epoch(Samplers.shuffle(length, SEED), epoch)));
      }
    }
    assertBiased(Statistics.inversions(Orders.epoch(buffered, 0)));
  }

  @Test
  void oddAndEvenOrdersAreEquallyLikely() {
    for (int length : new int[] {9, 256, 1000}) {
      assertNormal(parity(Samplers.shuffle(length, SEED), Math.max(500, Budget.of(4000))));
    }
    // A network of rounds on a power of two makes even permutations only; this one swaps what is
    // odd.
    Sampler even = new FunctionSampler(9, (epoch, position) -> {
      long[] order = Orders.epoch(Samplers.shuffle(9, SEED), epoch);
      boolean odd = (Statistics.countInversions(order.clone(), new long[9], 0, 9) & 1) == 1;
      return order[(int) (odd && position < 2 ? 1 - position : position)];
    });
    assertBiased(parity(even, 4000));
  }

  private static double parity(Sampler sampler, int epochs) {
    int odd = 0;
    for (int epoch = 0; epoch < epochs; epoch++) {
      long[] order = Orders.epoch(sampler, epoch);
      odd += (int) (Statistics.countInversions(order, new long[order.length], 0, order.length) & 1);
    }
    return (odd - epochs / 2.0) / Math.sqrt(epochs / 4.0);
  }

  @Test
  void allOrdersOfFewIndicesAreEquallyLikely() {
    for (int length = 2; length <= 6; length++) {
      assertNormal(Statistics.allOrders(
          Samplers.shuffle(length, SEED), Math.max(10_000, Budget.of(60_000))));
    }
    Sampler naive =
        new FunctionSampler(5, (epoch, position) -> naiveShuffle(5, epoch)[(int) position]);
    assertBiased(Statistics.allOrders(naive, 60_000));
  }

  @Test
  void epochsAndSeedsAreUnrelated() {
    long[] order = Orders.epoch(shuffle, 1);
    for (long other = 2; other < 20; other++) {
      assertUnrelated(order, Orders.epoch(shuffle, other));
      assertUnrelated(order, Orders.epoch(Samplers.shuffle(LENGTH, SEED + other), 1));
      assertUnrelated(order, Orders.epoch(Samplers.shuffle(LENGTH, SEED + 1), 1 - other % 2));
    }
    Sampler sum = new FunctionSampler(
        LENGTH, (epoch, position) -> Samplers.shuffle(LENGTH, SEED + 1 + epoch).index(0, position));
    Sampler next = new FunctionSampler(
        LENGTH, (epoch, position) -> Samplers.shuffle(LENGTH, SEED + epoch).index(0, position));
    assertBiased(Statistics.correlation(Orders.epoch(sum, 0), Orders.epoch(next, 1)));
    assertBiased(Statistics.sameDirection(Orders.epoch(sum, 0), Orders.epoch(next, 1)));
  }

  @Test
  void ranksAreUnrelated() {
    long[][] shares = new long[4][];
    for (int rank = 0; rank < 4; rank++) {
      shares[rank] = Orders.epoch(shuffle.share(rank, 4, Remainder.DROP), 3);
    }
    for (int one = 0; one < 4; one++) {
      for (int other = one + 1; other < 4; other++) {
        assertUnrelated(shares[one], shares[other]);
      }
    }
    // Every rank shuffles its own part, all with one seed.
    Sampler parts = new FunctionSampler(
        2 * LENGTH,
        (epoch, position) -> shuffle.index(epoch, position / 2) + position % 2 * LENGTH);
    long[] left = Orders.epoch(parts.share(0, 2, Remainder.DROP), 3);
    long[] right = Orders.epoch(parts.share(1, 2, Remainder.DROP), 3);
    assertBiased(Statistics.correlation(left, right));
    assertBiased(Statistics.sameDirection(left, right));
  }

  /**
   * Two places of the smallest domains, over many epochs: the hardest case for a network of few
   * rounds.
   */
  @Test
  void pairsOfPlacesTakeAllPairsOfIndices() {
    for (long difference : new long[] {1, 64, 128}) {
      long[] counts = new long[256];
      for (long epoch = 0; epoch < Math.max(25_000, Budget.of(400_000)); epoch++) {
        Permutation permutation = new Permutation(Mixing.key(Mixing.SHUFFLE, SEED, epoch), 256);
        counts[(int) (permutation.apply(77) ^ permutation.apply(77 ^ difference))]++;
      }
      assertThat(counts[0]).isZero();
      assertNormal(Statistics.chiSquare(Arrays.copyOfRange(counts, 1, 256)));
    }
    long[] two = new long[256];
    for (long epoch = 0; epoch < 400_000; epoch++) {
      long key = Mixing.key(Mixing.SHUFFLE, SEED, epoch);
      two[(int) (oneRound(key, 77) ^ oneRound(key, 77 ^ 128))]++;
    }
    assertBiased(Statistics.chiSquare(Arrays.copyOfRange(two, 1, 256)));
  }

  /** Orders of more than 2³² indices come from a network of another kind. */
  @Test
  void hugeShufflesLookRandom() {
    for (long length : new long[] {(1L << 32) + 1, 10_000_000_000L, 1L << 33, 3L << 45, 1L << 62}) {
      Sampler huge = Samplers.shuffle(length, SEED);
      long[] before = new long[0];
      for (long epoch = 0; epoch < Math.max(2, Budget.of(3)); epoch++) {
        long[] order = Orders.prefix(huge, epoch, 500_000);
        assertHugeIsNormal(order, length);
        assertHugeIsNormal(Orders.prefix(huge.skip(length / 3), epoch, 500_000), length);
        assertUnrelated(
            order, epoch == 0 ? Orders.prefix(huge.skip(length / 2), 0, 500_000) : before);
        before = order;
      }
    }
    long[] steps = new long[500_000];
    Arrays.setAll(steps, i -> (i * Mixing.GAMMA) >>> 24);
    assertBiased(Statistics.serialCorrelation(steps, 1));
    assertBiased(Statistics.chiSquare(parts(steps, i -> i % 97 & 63)));
  }

  private static void assertHugeIsNormal(long[] order, long length) {
    for (int lag : new int[] {1, 2, 8, 256}) {
      assertNormal(Statistics.serialCorrelation(order, lag));
    }
    assertNormal(Statistics.chiSquare(parts(order, i -> i / (length / 96 + 1))));
    assertNormal(Statistics.chiSquare(parts(order, i -> i & 63)));
    assertNormal(Statistics.chiSquare(parts(order, i -> (i >>> 12) & 63)));
  }

  private static long[] parts(long[] order, LongUnaryOperator part) {
    long[] counts = new long[(int) Arrays.stream(order).map(part).max().orElse(0) + 1];
    for (long index : order) {
      counts[(int) part.applyAsLong(index)]++;
    }
    return counts;
  }

  @Test
  void pairsOfPlacesOfHugeShufflesAreAnyDistanceApart() {
    for (int bits : new int[] {33, 40, 62}) {
      for (long difference : new long[] {1, 1L << (bits / 2), 1L << (bits - 1)}) {
        assertNormal(distances(bits, 8, difference, Math.max(25_000, Budget.of(200_000))));
      }
    }
    assertBiased(distances(40, 2, 1L << 39, 200_000));
  }

  private static double distances(int bits, int rounds, long difference, int epochs) {
    long[] upper = new long[256];
    long[] lower = new long[256];
    for (long epoch = 0; epoch < epochs; epoch++) {
      long key = Mixing.key(Mixing.SHUFFLE, SEED, epoch);
      int[] multipliers = new int[rounds];
      int[] addends = new int[rounds];
      Arrays.setAll(multipliers, r -> (int) Mixing.expand(key, 2 * r) | 1);
      Arrays.setAll(addends, r -> (int) Mixing.expand(key, 2 * r + 1));
      WideNetwork network = new WideNetwork(1L << bits, bits, multipliers, addends);
      long distance = network.forward(77 ^ difference) - network.forward(77);
      upper[(int) ((distance >>> (bits - 8)) & 255)]++;
      lower[(int) (distance & 255)]++;
    }
    double one = Statistics.chiSquare(upper);
    double other = Statistics.chiSquare(lower);
    return Math.abs(one) > Math.abs(other) ? one : other;
  }

  private static long oneRound(long key, long value) {
    long x = (value * (Mixing.expand(key, 0) | 1) + Mixing.expand(key, 1)) & 255;
    return x ^ (x >>> 4);
  }

  private static void assertUnrelated(long[] one, long[] other) {
    assertNormal(Statistics.correlation(one, other));
    assertNormal(Statistics.sameDirection(one, other));
  }

  private static void assertNormal(double statistic) {
    assertThat(statistic).isBetween(-Statistics.NORMAL, Statistics.NORMAL);
  }

  private static void assertBiased(double statistic) {
    assertThat(Math.abs(statistic)).isGreaterThan(BIASED);
  }

  private static long rotated(long epoch, long position) {
    return (position + new SplittableRandom(epoch).nextInt(LENGTH)) % LENGTH;
  }

  /**
   * Does what a shuffle buffer of this size does: reads in order, and gives out a random one of the
   * indices that it holds.
   */
  private static Sampler buffered(int length, int room) {
    return new FunctionSampler(length, (epoch, position) -> {
      long start = position / room * room;
      long part = Math.min(room, length - start);
      return start + Samplers.shuffle(part, epoch).index(start, position - start);
    });
  }

  /** Exchanges each place with any place: nⁿ equally likely ways to n! orders. */
  private static long[] naiveShuffle(int length, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long[] order = new long[length];
    for (int i = 0; i < length; i++) {
      order[i] = i;
    }
    for (int i = 0; i < length; i++) {
      int j = random.nextInt(length);
      long kept = order[i];
      order[i] = order[j];
      order[j] = kept;
    }
    return order;
  }
}
