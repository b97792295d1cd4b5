package io.zrecord.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.BitSet;
import java.util.Random;

/** What every order must satisfy. */
final class Orders {
  private Orders() {}

  /** Returns a whole epoch. */
  static long[] epoch(Sampler sampler, long epoch) {
    return prefix(sampler, epoch, (int) sampler.length());
  }

  static long[] prefix(Sampler sampler, long epoch, int count) {
    long[] order = new long[count];
    sampler.indices(epoch, 0, order, 0, count);
    return order;
  }

  static void assertPermutation(Sampler sampler, long epoch) {
    assertThat(sampler.bound()).isEqualTo(sampler.length());
    BitSet seen = new BitSet();
    for (long index : epoch(sampler, epoch)) {
      assertThat(index).as("%s", sampler).isBetween(0L, sampler.length() - 1);
      assertThat(seen.get((int) index)).as("%s gives %s twice", sampler, index).isFalse();
      seen.set((int) index);
    }
    assertThat(seen.cardinality()).isEqualTo((int) sampler.length());
  }

  /**
   * Requires that any cut of the first {@code count} positions into requests, from any place and by
   * any stride, gives the same indices.
   */
  static void assertSameInAnyBlocks(Sampler sampler, long epoch, int count, Random random) {
    long[] order = prefix(sampler, epoch, count);
    for (int place = 0; place < count; place += 1 + random.nextInt(Math.max(1, count / 20))) {
      assertThat(sampler.index(epoch, place))
          .as("%s at %s", sampler, place)
          .isEqualTo(order[place]);
    }
    for (int round = 0; round < 12 && count > 0; round++) {
      int start = random.nextInt(count);
      int stride = round % 3 == 0 ? 1 : 1 + random.nextInt(20);
      int steps = Math.min(1 + random.nextInt(3000), (count - 1 - start) / stride + 1);
      int from = random.nextInt(5);
      long[] target = new long[from + steps + 1];
      sampler.indices(epoch, start, stride, target, from, steps);
      for (int i = 0; i < steps; i++) {
        assertThat(target[from + i])
            .as("%s at %s + %s * %s", sampler, start, i, stride)
            .isEqualTo(order[start + i * stride]);
      }
      assertThat(target[from + steps]).isZero();
    }
  }
}
