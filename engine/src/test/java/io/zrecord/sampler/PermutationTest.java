package io.zrecord.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.Budget;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Orders that hold every index once. */
class PermutationTest {
  private static final int[] LENGTHS = {
    0, 1, 2, 3, 4, 5, 7, 8, 9, 13, 31, 64, 127, 128, 129, 251, 255, 256, 257, 1000, 1023, 1024,
    1025, 4093, 65_535, 65_536, 65_537, 99_991
  };

  private final Random random = Budget.random();

  @Test
  void aShuffleHoldsEveryIndexOnce() {
    for (int length : LENGTHS) {
      for (long seed = -1; seed <= 1; seed++) {
        Orders.assertPermutation(Samplers.shuffle(length, seed), 5);
      }
    }
    for (int length : new int[] {(1 << 20) - 1, 1 << 20, (1 << 19) + 1}) {
      Orders.assertPermutation(Samplers.shuffle(length, 42), 0);
    }
  }

  @Test
  void everyLengthUpToAThousandIsPermuted() {
    for (int length = 0; length <= 1000; length++) {
      Orders.assertPermutation(Samplers.shuffle(length, length), 1);
    }
  }

  @Test
  void blocksOfRequestsChangeNothing() {
    for (int length : LENGTHS) {
      Orders.assertSameInAnyBlocks(Samplers.shuffle(length, 3), 2, length, random);
      Orders.assertSameInAnyBlocks(Samplers.blockShuffle(length, 100, 3, 3), 2, length, random);
    }
  }

  @Test
  void theInverseFindsEveryIndexOfHugeSpaces() {
    for (long length : new long[] {
      2,
      3,
      1000,
      1_000_000_000L,
      (1L << 31) + 1,
      1L << 32,
      (1L << 32) + 1,
      1L << 33,
      1L << 40,
      (1L << 61) + 1,
      (1L << 62) - 1,
      1L << 62
    }) {
      ShuffleSampler shuffle = Samplers.shuffle(length, 11);
      for (int i = 0; i < Budget.of(2000); i++) {
        long position = i < 2 ? i : Math.floorMod(random.nextLong(), length);
        long index = shuffle.index(9, position);
        assertThat(index).isBetween(0L, length - 1);
        assertThat(shuffle.positionOf(9, index)).isEqualTo(position);
      }
    }
  }

  @Test
  void hugeSpacesAreTheSameInAnyBlocks() {
    for (long length : new long[] {
      1_000_000_000L, (1L << 31) + 1, 1L << 32, (1L << 32) + 1, (1L << 40) + 1, 1L << 62
    }) {
      Sampler end = Samplers.shuffle(length, 1).skip(length - 20_000);
      Orders.assertSameInAnyBlocks(end, 3, 20_000, random);
    }
  }

  @Test
  void epochsAndSeedsAreUnrelated() {
    Set<String> orders = new HashSet<>();
    for (long seed = 0; seed < 30; seed++) {
      for (long epoch = 0; epoch < 30; epoch++) {
        orders.add(Arrays.toString(Orders.prefix(Samplers.shuffle(1000, seed), epoch, 20)));
      }
    }
    assertThat(orders).hasSize(900);
  }

  @Test
  void aBlockShuffleHoldsEveryIndexOnce() {
    for (int length : LENGTHS) {
      if (length < 5000) {
        for (int block : new int[] {1, 2, 64, 1000, 1_000_000}) {
          for (int mixed : new int[] {0, 1, 2, 5, 1_000_000}) {
            Orders.assertPermutation(Samplers.blockShuffle(length, block, mixed, 5), 3);
          }
        }
      }
    }
  }

  @Test
  void listedBlocksHoldEveryIndexOnce() {
    for (int round = 0; round < Budget.of(50); round++) {
      long[] bounds = new long[1 + random.nextInt(40)];
      for (int i = 1; i < bounds.length; i++) {
        bounds[i] = bounds[i - 1] + 1 + random.nextInt(round % 2 == 0 ? 3 : 300);
      }
      for (int mixed : new int[] {0, 1, 3, 100}) {
        Sampler sampler = Samplers.blockShuffle(bounds, mixed, round);
        Orders.assertPermutation(sampler, 1);
        Orders.assertSameInAnyBlocks(sampler, 1, (int) sampler.length(), random);
      }
    }
  }

  @Test
  void mixedBlocksStayTogether() {
    for (int mixed : new int[] {0, 1, 4}) {
      long[] order = Orders.epoch(Samplers.blockShuffle(10_000, 100, mixed, 5), 0);
      int run = 100 * Math.max(1, mixed);
      for (int start = 0; start < order.length; start += run) {
        long[] part = Arrays.copyOfRange(order, start, start + run);
        assertThat(Arrays.stream(part).map(i -> i / 100).distinct().count()).isEqualTo(run / 100);
        boolean rising = Arrays.equals(part, Arrays.stream(part).sorted().toArray());
        assertThat(rising).isEqualTo(mixed == 0);
      }
    }
  }

  @Test
  void blocksOfEqualLengthGiveTheSameOrderListedOrNot() {
    long[] bounds = new long[38];
    for (int i = 0; i < bounds.length; i++) {
      bounds[i] = Math.min(100L * i, 3650);
    }
    for (int mixed : new int[] {0, 1, 3, 50}) {
      assertThat(Orders.epoch(Samplers.blockShuffle(bounds, mixed, 8), 4))
          .containsExactly(Orders.epoch(Samplers.blockShuffle(3650, 100, mixed, 8), 4));
    }
  }
}
