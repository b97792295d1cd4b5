package io.zrecord.internal.shard.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.testing.Budget;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Slots that are collected in any order are encoded as a list of them would be. */
final class SlotCollectorTest {
  private static final int CONTAINER = 1 << 16;

  private final Random random = Budget.random();

  @Test
  void anySlotsAreEncodedAsTheirListIs() {
    for (int round = Math.max(4, Budget.of(20)); round > 0; round--) {
      TreeSet<Long> expected = new TreeSet<>();
      SlotCollector collector = new SlotCollector();
      boolean isTold = true;
      // Containers of few slots, of as many as are listed, of one more, and of all.
      for (int count : new int[] {1, 1 + random.nextInt(100), 4096, 4097, CONTAINER}) {
        long first = (long) random.nextInt(1 << 12) * CONTAINER;
        for (int i = 0; i < count; i++) {
          long slot = first + (count == CONTAINER ? i : (i * 17L + random.nextInt(3)) % CONTAINER);
          isTold &= collector.add(slot) == expected.add(slot);
        }
      }
      assertThat(isTold).as("whether each slot was new").isTrue();
      long[] slots = expected.stream().mapToLong(Long::longValue).toArray();
      assertThat(collector.count()).isEqualTo(slots.length);
      assertThat(collector.slots()).isEqualTo(slots);
      assertThat(collector.encode()).isEqualTo(RankedBitmap.encode(slots));
      assertThat(collector.toSet().slots()).isEqualTo(slots);
      assertThat(SlotCollector.of(collector.toSet()).slots()).isEqualTo(slots);
      assertThat(SlotCollector.of(slots).encode()).isEqualTo(collector.encode());
    }
    assertThat(new SlotCollector().toSet()).isNull();
  }
}
