package io.zrecord.internal.format;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.zrecord.testing.Budget;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RankedBitmapTest {
  private final long seed = Budget.seed();
  private final Random random = Budget.random();

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 31, 32, 33, 4095, 4096, 4097, 65_535, 65_536, 100_000, 200_000})
  void ranksAndSlotsAreThoseOfASortedSet(int count) {
    int range = Math.max(count, random.nextInt(1 << 18));
    TreeSet<Long> set = new TreeSet<>();
    long first = random.nextBoolean() ? 0 : random.nextInt(1 << 20) * 65_536L;
    while (set.size() < count) {
      set.add(first + random.nextInt(range));
    }
    long[] slots = set.stream().mapToLong(Long::longValue).toArray();
    RankedBitmap bitmap = RankedBitmap.of(slots);
    assertThat(bitmap.count()).isEqualTo(count);
    assertThat(bitmap.slots()).isEqualTo(slots);
    assertThat(bitmap.slotsIf(slot -> slot % 3 == 0))
        .isEqualTo(LongStream.of(slots).filter(slot -> slot % 3 == 0).toArray());
    int rank = 0;
    for (long slot = Math.max(0, first - 3); slot < first + range + 3; slot++) {
      boolean isIn = rank < count && slots[rank] == slot;
      long next = rank < count ? slots[rank] : -1;
      long again = isIn ? bitmap.slotOf(rank) : bitmap.missing(slot - rank);
      if (bitmap.contains(slot) != isIn
          || bitmap.rank(slot) != rank
          || bitmap.next(slot) != next
          || again != slot) {
        throw new AssertionError("slot " + slot + " of rank " + rank);
      }
      rank += isIn ? 1 : 0;
    }
    for (int i = 0; i < 50; i++) {
      int from = random.nextInt(count);
      long[] loaded = new long[1 + random.nextInt(count - from)];
      bitmap.load(from, loaded.length, loaded);
      assertThat(loaded).isEqualTo(Arrays.copyOfRange(slots, from, from + loaded.length));
    }
    assertThat(bitmap.rank(Long.MAX_VALUE)).isEqualTo(count);
    assertThat(bitmap.contains(Long.MAX_VALUE)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 31, 32, 5000, 70_000})
  void slotsOfARangeAreVisited(int count) {
    long[] slots = random.longs(0, 300_000).distinct().limit(count).sorted().toArray();
    RankedBitmap bitmap = RankedBitmap.of(slots);
    int ranges = Math.max(4, Budget.of(200));
    for (int i = 0; i < ranges; i++) {
      long from = i == 0 ? 0 : random.nextInt(300_000);
      long to = i == 0 ? 300_000 : from + random.nextInt(i % 2 == 0 ? 100 : 200_000);
      List<Long> ranks = new ArrayList<>();
      List<Long> visited = new ArrayList<>();
      bitmap.visit(from, to, (slot, rank) -> {
        visited.add(slot);
        ranks.add(rank);
      });
      assertThat(visited)
          .as("seed " + seed)
          .isEqualTo(LongStream.of(slots)
              .filter(slot -> slot >= from && slot < to)
              .boxed()
              .toList());
      for (int k = 0; k < visited.size(); k++) {
        assertThat(ranks.get(k)).isEqualTo(bitmap.rank(visited.get(k)));
      }
    }
  }

  @Test
  void slotsFarApartAreFound() {
    long[] slots = {0, 65_535, 65_536, 1L << 31, (1L << 46) + 5};
    RankedBitmap bitmap = RankedBitmap.of(slots);
    for (int i = 0; i < slots.length; i++) {
      assertThat(bitmap.contains(slots[i])).isTrue();
      assertThat(bitmap.contains(slots[i] + 2)).isFalse();
      assertThat(bitmap.rank(slots[i])).isEqualTo(i);
      assertThat(bitmap.slotOf(i)).isEqualTo(slots[i]);
    }
    assertThat(bitmap.missing(65_534)).isEqualTo(65_537);
    assertThat(bitmap.missing(1L << 46)).isEqualTo((1L << 46) + 4);
    assertThat(bitmap.missing((1L << 46) + 1)).isEqualTo((1L << 46) + 6);
  }

  /** A file of 4 MiB, which is not trusted, would otherwise take half a gigabyte. */
  @Test
  void manySmallContainersTakeLittleMemory() {
    int containers = 5000;
    long[] slots = LongStream.range(0, containers * 40L)
        .map(i -> i / 40 * 65_536 + i % 40 * 3)
        .toArray();
    byte[] bytes = RankedBitmap.encode(slots);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    RankedBitmap bitmap = decode(bytes, Long.MAX_VALUE);
    assertThat(threads.getCurrentThreadAllocatedBytes() - before)
        .isLessThan(12 << 20)
        .isGreaterThan(bytes.length);
    for (int i = 0; i < slots.length; i += 7) {
      assertThat(bitmap.contains(slots[i])).isTrue();
      assertThat(bitmap.contains(slots[i] + 1)).isFalse();
      assertThat(bitmap.rank(slots[i] + 1)).isEqualTo(i + 1);
      assertThat(bitmap.slotOf(i)).isEqualTo(slots[i]);
    }
    assertThat(bitmap.slots()).isEqualTo(slots);
  }

  @Test
  void aSlotOfTheNumberOfSlotsIsRefused() {
    byte[] bytes = RankedBitmap.encode(new long[] {3, 9});
    assertThat(decode(bytes, 10)).isNotNull();
    assertThat(decode(bytes, 9)).isNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {3, 5000})
  void anyOtherByteGivesAnotherSetOrIsRefused(int count) {
    long[] slots = random.longs(0, 200_000).distinct().limit(count).sorted().toArray();
    byte[] bytes = RankedBitmap.encode(slots);
    int rounds = Math.max(60, Budget.of(3_000));
    for (int i = 0; i < rounds; i++) {
      byte[] other = bytes.clone();
      int at = i < 60 ? i % other.length : random.nextInt(other.length);
      other[at] ^= (byte) (1 << random.nextInt(8));
      RankedBitmap found = decode(other, 1L << 40);
      if (found != null) {
        assertThat(found.slots()).as("byte " + at + ", seed " + seed).isNotEqualTo(slots);
        assertThat(RankedBitmap.encode(found.slots())).isEqualTo(other);
      }
    }
    for (int length = 0; length < Math.min(bytes.length, 200); length++) {
      assertThat(decode(java.util.Arrays.copyOf(bytes, length), 1L << 40)).isNull();
    }
    assertThat(decode(java.util.Arrays.copyOf(bytes, bytes.length + 8), 1L << 40))
        .isNull();
  }

  private static RankedBitmap decode(byte[] bytes, long slots) {
    return RankedBitmap.decode(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), slots);
  }
}
