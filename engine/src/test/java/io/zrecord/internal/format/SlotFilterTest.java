package io.zrecord.internal.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.Budget;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SlotFilterTest {
  private static final int SLOTS = 4_000_000;

  private final Random random = Budget.random();

  private long[] slots(int count) {
    return random.longs(count, 0, SLOTS).sorted().distinct().toArray();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 100, 40_000, 1_000_000})
  void everySlotOfTheSetPasses(int count) {
    long[] slots = slots(count);
    SlotFilter filter = SlotFilter.of(RankedBitmap.of(slots));
    assertThat(LongStream.of(slots)).allMatch(filter::mayContain);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 100, 40_000, 200_000})
  void fewOthersPass(int count) {
    long[] slots = slots(count);
    RankedBitmap set = RankedBitmap.of(slots);
    SlotFilter filter = SlotFilter.of(set);
    long passed = LongStream.range(0, SLOTS)
        .filter(slot -> !set.contains(slot) && filter.mayContain(slot))
        .count();
    assertThat(passed).isLessThan(SLOTS / 10);
  }

  @Test
  void noSlotPassesTheFilterOfNone() {
    assertThat(random.longs(1000, 0, SLOTS)).noneMatch(SlotFilter.NONE::mayContain);
  }
}
