package io.zrecord.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.Budget;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Draws are those of the specification, made one by one or many at once. */
class BoundedTest {
  private static final long SEED = Budget.seed();

  /** The first 200 have the smallest bounds. */
  private static final int ROUNDS = Math.max(300, Budget.of(3000));

  private static final int COUNT = Lanes.MIN + 3;
  private static final BigInteger WORDS = BigInteger.ONE.shiftLeft(64);

  private final Random random = Budget.random();

  @Test
  void drawsAreTheProductsOfTheSpecification() {
    for (int i = 0; i < ROUNDS; i++) {
      long bound = bound(i);
      long position = random.nextLong() >>> 2;
      long stride = random.nextBoolean()
          ? 1
          : 1 + (((random.nextLong() >>> 2) / COUNT) >>> random.nextInt(62));
      Words words = Words.of(i, position);
      long[] draws = draws(bound, words, position, stride);
      for (int j = 0; j < COUNT; j += 13) {
        assertThat(draws[j])
            .as("draw %d of bound %d", j, bound)
            .isEqualTo(specified(words, position + j * stride, bound));
      }
    }
  }

  /**
   * Words whose lower half of the product is close to where it is rejected, or close to where the
   * draw changes.
   */
  @Test
  void wordsAtTheLimitsAreRejectedOrExact() {
    int rejected = 0;
    for (int i = 0; i < ROUNDS; i++) {
      long bound = bound(i) | 1;
      long limit = Long.remainderUnsigned(-bound, bound);
      for (long low : new long[] {0, 1, limit - 1, limit, limit + 1, bound, -1, -2, -bound}) {
        long position = random.nextLong() >>> 2;
        Words words = withWord(low * inverse(bound), position);
        assertThat(words.at(position) * bound).isEqualTo(low);
        rejected += Long.compareUnsigned(low, limit) < 0 ? 1 : 0;
        long expected = specified(words, position, bound);
        assertThat(draws(bound, words, position, 1)[0]).isEqualTo(expected);
        assertThat(new Bounded(bound).at(words, position)).isEqualTo(expected);
      }
    }
    // About 2.6 of the words of a round are, so fewer than half of that never happen by chance.
    assertThat(rejected).isGreaterThan(ROUNDS);
  }

  /** What makes the way of digits worth it. */
  @Test
  void onlyFewDrawsAreMadeAgain() {
    int[] high = new int[Lanes.CHUNK];
    int[] steps = WordLanes.steps(Lanes.order(high.length), 1, new int[0], high.length);
    int products = 0;
    int digits = 0;
    for (int i = 0; i < 1000; i++) {
      Words words = Words.of(i, 0);
      WordLanes.high(steps, words.counter(0), words.first(), words.second(), high, high.length);
      int[] one = high.clone();
      WordLanes.products(one, one.length, 1_000_000);
      products += marked(one);
      WordLanes.productsOfThreeDigits(
          steps, words.counter(0), words.third(), high, high.length, 1_000_000_000);
      digits += marked(high);
    }
    assertThat(products).isBetween(400, 600);
    assertThat(digits).isBetween(50, 140);
  }

  private static int marked(int[] draws) {
    int marked = Lanes.negative(draws, new int[draws.length], draws.length, new int[draws.length]);
    assertThat(marked).isEqualTo(Arrays.stream(draws).filter(draw -> draw < 0).count());
    return marked;
  }

  /** Positions share keys by 2³². */
  @Test
  void drawsGoOnAfterTheLastPositionOfAKey() {
    for (long bound : new long[] {1000, 1_000_000_000, 1L << 40}) {
      for (long last : new long[] {1L << 32, 5L << 32, 1L << 61}) {
        Words words = Words.of(3, last - 1);
        for (long stride : new long[] {1, 9, 1L << 33}) {
          long[] draws = draws(bound, words, last - 60, stride);
          for (int j = 0; j < COUNT; j++) {
            assertThat(draws[j]).isEqualTo(specified(words, last - 60 + j * stride, bound));
          }
        }
      }
    }
  }

  @Test
  void fullChunksAreInTheOrderOfPositions() {
    for (long bound : new long[] {1000, 1_000_000_000, 1L << 40}) {
      for (long stride : new long[] {1, 3}) {
        Words words = Words.of(4, 0);
        long[] draws = new long[Lanes.CHUNK];
        new Bounded(bound).draw(words, 77, stride, draws, 0, draws.length);
        for (int j = 0; j < draws.length; j++) {
          assertThat(draws[j]).isEqualTo(specified(words, 77 + j * stride, bound));
        }
      }
    }
  }

  private long bound(int i) {
    return 1 + (i < 200 ? i : (random.nextLong() >>> 2) >>> random.nextInt(62));
  }

  private static long[] draws(long bound, Words words, long position, long stride) {
    long[] target = new long[COUNT + 2];
    new Bounded(bound).draw(words, position, stride, target, 1, COUNT);
    assertThat(target[0] | target[COUNT + 1]).isZero();
    return Arrays.copyOfRange(target, 1, COUNT + 1);
  }

  private static long specified(Words words, long position, long bound) {
    BigInteger rejected = WORDS.mod(BigInteger.valueOf(bound));
    BigInteger product = product(words.at(position), bound);
    for (int attempt = 1; product.mod(WORDS).compareTo(rejected) < 0; attempt++) {
      product = product(words.again(attempt, position), bound);
    }
    return product.shiftRight(64).longValueExact();
  }

  private static BigInteger product(long word, long bound) {
    return new BigInteger(Long.toUnsignedString(word)).multiply(BigInteger.valueOf(bound));
  }

  /** Makes words that have this word at the position. */
  private static Words withWord(long word, long position) {
    int high = (int) (word >>> 32);
    int low = (int) word;
    int start = 1234567;
    int t = (int) position * Words.GAMMA + start;
    int first = 99;
    int x = (t ^ (t >>> 16)) * Words.FIRST + first;
    int second = unfold(high - t, 15) - (x ^ (x >>> 15)) * Words.SECOND;
    int third = (low ^ (((low >>> 16) * Words.FOURTH) >>> 16)) - (t ^ high) * Words.THIRD;
    return new Words(SEED, position >>> 32, start, first, second, third);
  }

  private static int unfold(int folded, int shift) {
    return folded ^ (folded >>> shift) ^ (folded >>> (2 * shift));
  }

  /** Inverts an odd number modulo 2⁶⁴, by Newton's iteration. */
  private static long inverse(long odd) {
    long inverse = odd;
    for (int i = 0; i < 6; i++) {
      inverse *= 2 - odd * inverse;
    }
    return inverse;
  }
}
