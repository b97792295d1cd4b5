package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.StatisticsCollector;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.schema.FieldSpec;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
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
  private boolean isSorted = true;

  /** What is known of the values in a container of slots. */
  private static final class Container {
    private final @Nullable StatisticsCollector collector;
    private @Nullable StatisticsRecord record;

    /** Whether values were looked at that count no more. */
    private boolean hasOthers;

    Container(FieldSpec spec) {
      this.collector = StatisticsCollector.of(spec);
    }

    void add(byte[] value) {
      if (collector != null) {
        collector.add(value, 0, value.length);
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

  /** Adds a value, which takes the place of one that was added before for the slot. */
  void add(long slot, byte @Nullable [] value, long offset, int sum) {
    if (count == slots.length) {
      slots = Arrays.copyOf(slots, 2 * count);
      offsets = Arrays.copyOf(offsets, 2 * count);
      lengths = Arrays.copyOf(lengths, 2 * count);
      sums = Arrays.copyOf(sums, 2 * count);
    }
    isSorted &= count == 0 || slots[count - 1] < slot;
    slots[count] = slot;
    offsets[count] = offset;
    lengths[count] = value == null ? 0 : value.length;
    sums[count] = sum;
    count++;
    Container container =
        containers.computeIfAbsent(slot / StatisticsRecord.SLOTS, key -> new Container(spec));
    if (value != null) {
      container.add(value);
    }
  }

  /** Sorts the values by their slots, and drops those of deleted records and those replaced. */
  void settle(SlotCollector deleted) {
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
    isSorted = true;
  }

  /** Returns the values by their slots, and those of one slot in the order of their coming. */
  private int[] order() {
    Integer[] order = new Integer[count];
    Arrays.setAll(order, i -> i);
    if (!isSorted) {
      Arrays.sort(order, Comparator.comparingLong(i -> slots[i]));
    }
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
