package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.StatisticsCollector;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.schema.FieldSpec;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The places of new values of a field, which come in any order. Takes 24 bytes for a value. Belongs
 * to one thread.
 */
final class NewValues {
  private final FieldSpec spec;
  private final Map<Long, Container> containers = new HashMap<>();
  private long[] slots = new long[4];
  /** Positions in the chunk; 0 for absent values. */
  private long[] offsets = new long[4];

  private int[] lengths = new int[4];
  private int[] sums = new int[4];
  private int count;

  /** Whether each slot so far was greater than the one before. */
  private boolean isRising = true;

  /** The container of the last value, which mostly has the next value as well. */
  private long lastNumber = -1;

  private @Nullable Container last;

  /** What is known of the values in a container of slots. */
  private static final class Container {
    private final @Nullable StatisticsCollector collector;
    private @Nullable StatisticsRecord record;

    /** Whether values were looked at that count no more. */
    private boolean hasOthers;

    Container(FieldSpec spec) {
      this.collector = StatisticsCollector.of(spec);
    }

    void add(byte[] source, int offset, int length) {
      if (collector != null) {
        collector.add(source, offset, length);
      }
    }

    StatisticsRecord record() {
      if (collector != null && record == null) {
        collector.endBlock();
        record = collector.records().get(0);
      }
      return record == null ? StatisticsRecord.unknown(0) : record;
    }
  }

  NewValues(FieldSpec spec) {
    this.spec = spec;
  }

  /** Adds an absent value, which takes the place of one that was added before for the slot. */
  void addAbsent(long slot) {
    addPlace(slot, 0, 0, 0);
    containerOf(slot);
  }

  /**
   * Adds a value, which takes the place of one that was added before for the slot.
   *
   * @param position of the value in the chunk
   */
  void add(long slot, byte[] source, int offset, int length, long position) {
    addPlace(slot, position, length, Crc32c.of(source, offset, length));
    containerOf(slot).add(source, offset, length);
  }

  private void addPlace(long slot, long position, int length, int sum) {
    if (count == slots.length) {
      slots = Arrays.copyOf(slots, 2 * count);
      offsets = Arrays.copyOf(offsets, 2 * count);
      lengths = Arrays.copyOf(lengths, 2 * count);
      sums = Arrays.copyOf(sums, 2 * count);
    }
    isRising &= count == 0 || slots[count - 1] < slot;
    slots[count] = slot;
    offsets[count] = position;
    lengths[count] = length;
    sums[count] = sum;
    count++;
  }

  private Container containerOf(long slot) {
    long number = slot / StatisticsRecord.SLOTS;
    Container found = last;
    if (found == null || number != lastNumber) {
      found = containers.computeIfAbsent(number, key -> new Container(spec));
      last = found;
      lastNumber = number;
    }
    return found;
  }

  /** Sorts the values by their slots, and drops those of deleted records and those replaced. */
  void settle(SlotCollector deleted) {
    if (isRising && deleted.count() == 0) {
      slots = Arrays.copyOf(slots, count);
      return;
    }
    int[] order = order();
    long[] keptSlots = new long[count];
    long[] keptOffsets = new long[count];
    int[] keptLengths = new int[count];
    int[] keptSums = new int[count];
    int kept = 0;
    for (int i = 0; i < count; i++) {
      int from = order[i];
      long slot = slots[from];
      boolean isReplaced = i + 1 < count && slots[order[i + 1]] == slot;
      if (isReplaced || deleted.contains(slot)) {
        Container container = containers.get(slot / StatisticsRecord.SLOTS);
        if (container != null) {
          container.hasOthers = true;
        }
        continue;
      }
      keptSlots[kept] = slot;
      keptOffsets[kept] = offsets[from];
      keptLengths[kept] = lengths[from];
      keptSums[kept] = sums[from];
      kept++;
    }
    slots = Arrays.copyOf(keptSlots, kept);
    offsets = keptOffsets;
    lengths = keptLengths;
    sums = keptSums;
    count = kept;
    isRising = true;
  }

  /** Returns the values by their slots, and those of one slot in the order of their coming. */
  private int[] order() {
    if (isRising) {
      return IntStream.range(0, count).toArray();
    }
    Integer[] order = new Integer[count];
    Arrays.setAll(order, i -> i);
    Arrays.sort(order, Comparator.comparingLong(i -> slots[i]));
    return Arrays.stream(order).mapToInt(i -> i).toArray();
  }

  /** Returns the slots in rising order, after {@link #settle}. */
  long[] slots() {
    return slots;
  }

  /** Adds the value of a rank to those of a patch. */
  void addTo(PatchValues values, int rank, int chunk) {
    if (offsets[rank] == 0) {
      values.addAbsent(slots[rank]);
    } else {
      values.add(slots[rank], offsets[rank], chunk, lengths[rank], sums[rank]);
    }
  }

  /** Returns what the values in a container are, and maybe others that count no more. */
  StatisticsRecord known(long container) {
    Container found = containers.get(container);
    return found == null ? StatisticsRecord.NOTHING : found.record();
  }

  /** Tells whether {@link #known} is of no other values. */
  boolean isWhole(long container) {
    Container found = containers.get(container);
    return found == null || !found.hasOthers;
  }
}
