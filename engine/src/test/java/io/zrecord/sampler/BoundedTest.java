package io.zrecord.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Draws are those of the specification, made one by one or many at once. Seed 2024. */
class BoundedTest {
  private static final long SEED = 2024;
  private static final int COUNT = Lanes.MIN + 3;
  private static final BigInteger WORDS = BigInteger.ONE.shiftLeft(64);

  private final Random random = new Random(SEED);

  @Test
  void drawsAreTheProductsOfTheSpecification() {
    for (int i = 0; i < 3000; i++) {
      long bound = bound(i);
      long position = random.nextLong() >>> 2;
      long stride = random.nextBoolean() ? 1 : 1 + (random.nextLong() >>> 2) / COUNT;
      Words words = Words.of(i);
      long[] draws = draws(bound, words, position, stride);
      for (int j = 0; j < COUNT; j += 13) {
        assertThat(draws[j])
            .as("draw %d of bound %d", j, bound)
            .isEqualTo(specified(words, position + j * stride, bound));
      }
    }
  }

  /** Words whose lower half of the product is close to where it is rejected, or close to where the draw changes. */
  @Test
  void wordsAtTheLimitsAreRejectedOrExact() {
    int rejected = 0;
    for (int i = 0; i < 3000; i++) {
      long bound = bound(i) | 1;
      long limit = Long.remainderUnsigned(-bound, bound);
      for (long low : new long[] {0, 1, limit - 1, limit, limit + 1, bound, -1, -2, -bound}) {
        Words words = withWord(low * inverse(bound), random.nextLong() >>> 1, 77);
        long position = words.stream();
        assertThat(words.at(position) * bound).isEqualTo(low);
        rejected += Long.compareUnsigned(low, limit) < 0 ? 1 : 0;
        long expected = specified(words, position, bound);
        assertThat(draws(bound, words, position, 1)[0]).isEqualTo(expected);
        assertThat(new Bounded(bound).at(words, position)).isEqualTo(expected);
      }
    }
    assertThat(rejected).isGreaterThan(5000);
  }

  /** What makes the way of parts worth it. */
  @Test
  void onlyFewDrawsAreMadeAgain() {
    long bound = 10_000_019;
    long[] words = new long[Lanes.CHUNK];
    int marked = 0;
    for (int i = 0; i < 1000; i++) {
      Words.of(i).fill(0, 1, words, 0, words.length);
      Lanes.products(words, 0, words.length, bound);
      for (long word : words) {
        marked += word < 0 ? 1 : 0;
      }
    }
    assertThat(marked).isBetween(1, 40);
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
      product = product(words.again(attempt).at(position), bound);
    }
    return product.shiftRight(64).longValueExact();
  }

  private static BigInteger product(long word, long bound) {
    return new BigInteger(Long.toUnsignedString(word)).multiply(BigInteger.valueOf(bound));
  }

  /** Words that have this one at the position that is also their stream. */
  private static Words withWord(long word, long position, long key) {
    long z = unfold(word * inverse(Mixing.SECOND), 27);
    z = unfold((z - key) * inverse(Mixing.FIRST), 30);
    return new Words(position, z - position * Mixing.GAMMA, key);
  }

  private static long unfold(long folded, int shift) {
    return folded ^ (folded >>> shift) ^ (folded >>> (2 * shift));
  }

  /** Of an odd number modulo 2⁶⁴, by Newton's iteration. */
  private static long inverse(long odd) {
    long inverse = odd;
    for (int i = 0; i < 6; i++) {
      inverse *= 2 - odd * inverse;
    }
    return inverse;
  }
}
