package io.zrecord.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.Budget;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Ranks, slices, repeats, and the simple orders. */
class CompositionTest {
  private final Random random = Budget.random();

  @Test
  void ranksTogetherAreTheGlobalOrder() {
    for (int length : new int[] {0, 1, 5, 8, 1000, 4099}) {
      Sampler all = Samplers.shuffle(length, 3);
      long[] order = Orders.epoch(all, 2);
      for (int world : new int[] {1, 2, 3, 7, 8, 64}) {
        for (Remainder remainder : Remainder.values()) {
          int positions = 0;
          for (int rank = 0; rank < world; rank++) {
            ShareSampler share = all.share(rank, world, remainder);
            long[] own = Orders.epoch(share, 2);
            Orders.assertSameInAnyBlocks(share, 2, own.length, random);
            for (int i = 0; i < own.length; i++) {
              assertThat(own[i]).isEqualTo(order[(i * world + rank) % length]);
            }
            positions += own.length;
          }
          int expected = switch (remainder) {
            case DROP -> length / world * world;
            case PAD -> (length + world - 1) / world * world;
            case UNEVEN -> length;
          };
          assertThat(positions).isEqualTo(expected);
        }
      }
    }
  }

  @Test
  void aStateOfFourRanksResumesOnEight() {
    Sampler all = Samplers.shuffle(1000, 42);
    long consumed = all.share(0, 4, Remainder.UNEVEN).globalPosition(37);
    SamplerState state = SamplerState.start(OptionalLong.of(3), 42).advance(all, consumed);
    assertThat(state.position()).isEqualTo(148);
    long[] rest = new long[1000 - 148];
    for (int rank = 0; rank < 8; rank++) {
      Sampler share = all.share(rank, 8, Remainder.UNEVEN).resumeAt(state.position());
      long[] own = Orders.epoch(share, state.epoch());
      for (int i = 0; i < own.length; i++) {
        rest[i * 8 + rank] = own[i];
      }
    }
    assertThat(rest).containsExactly(Arrays.copyOfRange(Orders.epoch(all, 0), 148, 1000));
  }

  @Test
  void slicesAndRepeatsKeepTheOrder() {
    Sampler shuffle = Samplers.shuffle(500, 1);
    long[] order = Orders.epoch(shuffle, 7);
    assertThat(Orders.epoch(shuffle.skip(100).take(50), 7))
        .containsExactly(Arrays.copyOfRange(order, 100, 150));
    Sampler thrice = shuffle.repeat(3);
    assertThat(thrice.length()).isEqualTo(1500);
    assertThat(Arrays.copyOfRange(Orders.epoch(thrice, 2), 500, 1000)).containsExactly(order);
    Orders.assertSameInAnyBlocks(thrice, 2, 1500, random);
    Orders.assertSameInAnyBlocks(shuffle.repeat(), 0, 5000, random);
    assertThat(Arrays.copyOfRange(Orders.prefix(shuffle.repeat(), 0, 4000), 3500, 4000))
        .containsExactly(order);
    assertThat(Orders.epoch(shuffle.withEpoch(7), 99)).containsExactly(order);
  }

  @Test
  void sequencesGoForwardsAndBackwards() {
    assertThat(Orders.epoch(Samplers.sequential(4), 9)).containsExactly(0, 1, 2, 3);
    assertThat(Orders.epoch(Samplers.sequential(2, 11, 4), 0)).containsExactly(2, 6, 10);
    assertThat(Orders.epoch(Samplers.sequential(10, 1, -4), 0)).containsExactly(10, 6, 2);
    assertThat(Orders.epoch(Samplers.sequential(3, -1, -1), 0)).containsExactly(3, 2, 1, 0);
    assertThat(Samplers.sequential(5, 5, 1).length()).isZero();
    assertThat(Samplers.sequential(10, 1, -4).bound()).isEqualTo(11);
    Orders.assertSameInAnyBlocks(Samplers.sequential(9, 90_000, 7), 0, 10_000, random);
  }

  @Test
  void windowsSlideOverACircle() {
    SlidingSampler sliding = Samplers.sliding(10, 4, 3);
    assertThat(Orders.epoch(sliding.onePass(), 0))
        .containsExactly(0, 1, 2, 3, 3, 4, 5, 6, 6, 7, 8, 9, 9, 0, 1, 2);
    assertThat(Orders.prefix(sliding.skip(16), 0, 4)).containsExactly(2, 3, 4, 5);
    Orders.assertSameInAnyBlocks(Samplers.sliding(1000, 37, 11), 0, 20_000, random);
    Sampler huge = Samplers.sliding((1L << 62) - 57, 3, (1L << 61) + 1);
    assertThat(huge.index(0, 3 * (1L << 60)))
        .isEqualTo(Wide.multiplyModulo(1L << 60, (1L << 61) + 1, (1L << 62) - 57));
  }

  @Test
  void aGlobalDrawHasNoRepeats() {
    Sampler global = Samplers.global(1000, 250, 9);
    long[] order = Orders.prefix(global, 3, 25_000);
    for (int start = 0; start < order.length; start += 250) {
      assertThat(LongStream.of(Arrays.copyOfRange(order, start, start + 250))
              .distinct()
              .count())
          .isEqualTo(250);
    }
    assertThat(LongStream.of(Arrays.copyOf(order, 1000)).distinct().count()).isBetween(640L, 725L);
    Orders.assertSameInAnyBlocks(global, 3, 25_000, random);
  }

  @Test
  void drawsAreTheSameInAnyBlocks() {
    for (long length :
        new long[] {1, 2, 3, 1000, 1_000_003, 1L << 40, (1L << 62) / 3 + 9, (1L << 61) + 1, 1L << 62
        }) {
      Orders.assertSameInAnyBlocks(Samplers.random(length, 9), 3, 20_000, random);
    }
    double[] weights = random.doubles(1000).toArray();
    Orders.assertSameInAnyBlocks(Samplers.weighted(weights, 4), 3, 20_000, random);
  }

  @Test
  void listsAreOrderedByAnotherSampler() {
    long[] odd = {9, 7, 5, 3, 1, 9};
    assertThat(Orders.epoch(Samplers.list(odd), 0)).containsExactly(odd);
    long[] shuffled = Orders.epoch(Samplers.list(odd, Samplers.shuffle(6, 2)), 1);
    assertThat(shuffled).containsExactlyInAnyOrder(odd).isNotEqualTo(odd);
    assertThat(Samplers.list(odd).bound()).isEqualTo(10);
  }

  @Test
  void anyoneCanWriteASampler() {
    Sampler own = new FunctionSampler(10, (epoch, position) -> (position + epoch) % 10);
    Sampler mixed = Samplers.mixInProportion(List.of(own, Samplers.sequential(5)), 5, 1);
    Orders.assertPermutation(mixed, 3);
    assertThat(Orders.epoch(own.share(1, 2, Remainder.DROP), 1)).containsExactly(2, 4, 6, 8, 0);
  }

  @Test
  void threadsSeeTheSameOrder() {
    List<Sampler> samplers = List.of(
        Samplers.random(1000, 1),
        Samplers.shuffle(50_000, 1),
        Samplers.blockShuffle(50_000, 64, 16, 1),
        Samplers.blockShuffle(new long[] {0, 7, 20_000, 50_000}, 2, 1),
        Samplers.weighted(random.doubles(500).toArray(), 1),
        Samplers.stratified(random.ints(50_000, 0, 5).toArray(), 64, 1));
    for (Sampler sampler : samplers) {
      long[][] epochs = {Orders.prefix(sampler, 0, 50_000), Orders.prefix(sampler, 1, 50_000)};
      IntStream.range(0, 400).parallel().forEach(part -> {
        int epoch = part % 2;
        int start = part / 2 * 250;
        long[] own = new long[250];
        sampler.indices(epoch, start, own, 0, own.length);
        assertThat(own).containsExactly(Arrays.copyOfRange(epochs[epoch], start, start + 250));
      });
    }
  }
}
