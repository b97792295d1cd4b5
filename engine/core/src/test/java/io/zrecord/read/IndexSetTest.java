package io.zrecord.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.testing.Budget;
import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class IndexSetTest {
  private static final int SPACE = 200;

  @Test
  void agreesWithABitSet() {
    Random random = Budget.random();
    for (int round = Budget.of(200); round > 0; round--) {
      requireLikeBitSets(random);
    }
  }

  private static void requireLikeBitSets(Random random) {
    BitSet a = randomBits(random);
    BitSet b = randomBits(random);
    IndexSet set = IndexSet.of(a.stream().asLongStream().toArray());
    IndexSet other = IndexSet.of(b.stream().asLongStream().toArray());
    assertSame(set, a);
    BitSet union = (BitSet) a.clone();
    union.or(b);
    assertSame(set.union(other), union);
    BitSet intersection = (BitSet) a.clone();
    intersection.and(b);
    assertSame(set.intersect(other), intersection);
    BitSet difference = (BitSet) a.clone();
    difference.andNot(b);
    assertSame(set.minus(other), difference);
    int length = random.nextInt(SPACE + 50);
    BitSet complement = new BitSet();
    complement.set(0, length);
    complement.andNot(a);
    assertSame(set.complement(length), complement);
    int offset = random.nextInt(SPACE);
    int count = random.nextInt(SPACE);
    BitSet slice = new BitSet();
    a.stream().skip(offset).limit(count).forEach(slice::set);
    assertSame(set.slice(offset, count), slice);
    BitSet shifted = new BitSet();
    a.stream().forEach(i -> shifted.set(i + 7));
    assertSame(set.shift(7), shifted);
    assertThat(set.shift(7).shift(-7)).isEqualTo(set);
    for (int i = 0; i < SPACE; i++) {
      assertThat(set.contains(i)).isEqualTo(a.get(i));
    }
  }

  @Test
  void whatNoRecordCanHaveIsLeftOut() {
    assertThat(IndexSet.of(-1, Long.MIN_VALUE, Long.MAX_VALUE)).isEqualTo(IndexSet.empty());
    assertThat(IndexSet.range(-5, 2)).isEqualTo(IndexSet.of(0, 1, 1));
    assertThat(IndexSet.range(5, 5).isEmpty()).isTrue();
    IndexSet all = IndexSet.range(Long.MIN_VALUE, Long.MAX_VALUE);
    assertThat(all.count()).isEqualTo(Long.MAX_VALUE);
    assertThat(all.slice(Long.MAX_VALUE - 2, Long.MAX_VALUE).count()).isEqualTo(2);
    assertThat(all.complement(Long.MAX_VALUE).isEmpty()).isTrue();
  }

  @Test
  void impossibleMovesAreRefused() {
    assertThatThrownBy(() -> IndexSet.of(3).shift(-4)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> IndexSet.of(3).shift(Long.MAX_VALUE))
        .isInstanceOf(ArithmeticException.class);
    assertThatThrownBy(() -> IndexSet.of(3).slice(-1, 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static BitSet randomBits(Random random) {
    BitSet bits = new BitSet();
    for (int i = random.nextInt(12); i > 0; i--) {
      int from = random.nextInt(SPACE);
      bits.set(from, Math.min(SPACE, from + random.nextInt(20)));
    }
    return bits;
  }

  private static void assertSame(IndexSet set, BitSet bits) {
    BitSet found = new BitSet();
    long previous = -1;
    for (int i = 0; i < set.rangeCount(); i++) {
      assertThat(set.rangeFrom(i)).isGreaterThan(previous);
      assertThat(set.rangeTo(i)).isGreaterThan(set.rangeFrom(i));
      previous = set.rangeTo(i);
      found.set((int) set.rangeFrom(i), (int) set.rangeTo(i));
    }
    assertThat(found).isEqualTo(bits);
    assertThat(set.count()).isEqualTo(bits.cardinality());
    assertThat(set.isEmpty()).isEqualTo(bits.isEmpty());
  }
}
