package io.zrecord.sampler;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.Budget;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Several sources in one order, and classes in their proportion. */
class MixSamplerTest {
  private final Random random = Budget.random();

  @Test
  void aMixInProportionHoldsEverySourceOnce() {
    List<Sampler> sources = List.of(
        Samplers.shuffle(700, 1),
        Samplers.sequential(0),
        Samplers.sequential(299),
        Samplers.shuffle(1, 3));
    MixSampler mix = Samplers.mixInProportion(sources, 64, 5);
    Orders.assertPermutation(mix, 2);
    Orders.assertSameInAnyBlocks(mix, 2, 1000, random);
    long[] order = Orders.epoch(mix, 2);
    for (int start = 0; start + 64 <= order.length; start += 64) {
      long first = Arrays.stream(order, start, start + 64)
          .filter(i -> mix.sourceOf(i) == 0)
          .count();
      assertThat(first).isBetween(43L, 47L);
    }
    assertThat(mix.sourceOf(700)).isEqualTo(2);
    assertThat(mix.sourceOf(999)).isEqualTo(3);
    assertThat(mix.indexInSource(998)).isEqualTo(298);
  }

  @Test
  void sourcesKeepTheirOwnOrderFromRoundToRound() {
    MixSampler mix = Samplers.mixInProportion(
        List.of(Samplers.sequential(600), Samplers.sequential(400)), 10, 5);
    long[] order = Orders.epoch(mix, 0);
    for (int round = 0; round < 100; round++) {
      long[] own = Arrays.stream(order, round * 10, round * 10 + 10).sorted().toArray();
      for (int i = 0; i < 6; i++) {
        assertThat(own[i]).isEqualTo(round * 6 + i);
      }
    }
  }

  @Test
  void weightsSayHowOftenASourceComes() {
    MixSampler mix = Samplers.mix(
        List.of(Samplers.shuffle(1000, 1), Samplers.random(50, 2), Samplers.sequential(7)),
        new double[] {0.7, 0.2, 0.1},
        100,
        3);
    assertThat(mix.length()).isEqualTo(Sampler.ENDLESS);
    long[] counts = new long[3];
    long[] order = Orders.prefix(mix, 1, 10_000);
    for (long index : order) {
      counts[mix.sourceOf(index)]++;
    }
    assertThat(counts[0]).isBetween(6998L, 7002L);
    assertThat(counts[1]).isBetween(1998L, 2002L);
    assertThat(counts[2]).isBetween(998L, 1002L);
    Orders.assertSameInAnyBlocks(mix, 1, 10_000, random);
    long[] passes = Arrays.stream(order).filter(i -> i < 1000).limit(7000).toArray();
    assertThat(Arrays.stream(passes).limit(1000).distinct().count()).isGreaterThan(930);
  }

  @Test
  void theScheduleIsTheSameFromEveryStart() {
    for (long[] rates :
        new long[][] {{1}, {1, 1, 1}, {5, 3, 2}, {1000, 1, 0, 37}, {7, 7, 7, 7, 1}}) {
      long total = Arrays.stream(rates).sum();
      Schedule whole = new Schedule(rates, total, 0);
      for (int position = 0; position < total; position++) {
        Schedule late = new Schedule(rates, total, position);
        for (int source = 0; source < rates.length; source++) {
          assertThat(late.taken(source)).isEqualTo(whole.taken(source));
          double part = (double) rates[source] / total;
          assertThat(Math.abs(whole.taken(source) - part * position))
              .isLessThanOrEqualTo(0.5 + rates.length * part / 2);
        }
        assertThat(late.next()).isEqualTo(whole.next());
      }
      for (int source = 0; source < rates.length; source++) {
        assertThat(whole.taken(source)).isEqualTo(rates[source]);
      }
    }
  }

  @Test
  void theScheduleIsExactForHugeRates() {
    long[] rates = {(1L << 61) - 1, 1L << 60, 12_345};
    long total = rates[0] + rates[1] + rates[2];
    Schedule schedule = new Schedule(rates, total, total / 3);
    assertThat(schedule.taken(0) + schedule.taken(1) + schedule.taken(2)).isEqualTo(total / 3);
    assertThat(schedule.taken(2)).isEqualTo(4115);
  }

  @Test
  void stratifiedBatchesHaveTheClassesOfTheWhole() {
    int[] labels =
        random.ints(10_000, 0, 10).map(i -> i < 7 ? -5 : i == 7 ? 3 : 900).toArray();
    double[] parts = {share(labels, -5), share(labels, 3), share(labels, 900)};
    Sampler sampler = Samplers.stratified(labels, 100, 6);
    Orders.assertPermutation(sampler, 4);
    Orders.assertSameInAnyBlocks(sampler, 4, 10_000, random);
    long[] order = Orders.epoch(sampler, 4);
    for (int start = 0; start < order.length; start += 100) {
      int[] batch = Arrays.stream(order, start, start + 100)
          .mapToInt(i -> labels[(int) i])
          .toArray();
      assertThat(share(batch, -5)).isBetween(parts[0] - 0.025, parts[0] + 0.025);
      assertThat(share(batch, 3)).isBetween(parts[1] - 0.025, parts[1] + 0.025);
      assertThat(share(batch, 900)).isBetween(parts[2] - 0.025, parts[2] + 0.025);
    }
    assertThat(Orders.epoch(sampler, 5)).isNotEqualTo(order);
  }

  @Test
  void balancedBatchesHaveEveryClassEquallyOften() {
    int[] labels = new int[1000];
    labels[17] = 1;
    Arrays.fill(labels, 500, 510, 2);
    Sampler sampler = Samplers.balanced(labels, 30, 6);
    long[] order = Orders.prefix(sampler, 0, 30_000);
    Orders.assertSameInAnyBlocks(sampler, 0, 3000, random);
    for (int start = 0; start < order.length; start += 30) {
      int[] batch =
          Arrays.stream(order, start, start + 30).mapToInt(i -> labels[(int) i]).toArray();
      assertThat(share(batch, 0)).isEqualTo(share(batch, 1)).isEqualTo(share(batch, 2));
    }
    assertThat(Arrays.stream(order).distinct().count()).isEqualTo(1000);
  }

  @Test
  void ranksOfAStratifiedOrderAreMixedToo() {
    int[] labels = new int[4096];
    Arrays.fill(labels, 0, 2048, 1);
    long[] own = Orders.epoch(Samplers.stratified(labels, 64, 2).share(0, 2, Remainder.DROP), 0);
    assertThat(Arrays.stream(own).filter(i -> i < 2048).count()).isBetween(850L, 1200L);
  }

  private static double share(int[] labels, int label) {
    return Arrays.stream(labels).filter(l -> l == label).count() / (double) labels.length;
  }
}
