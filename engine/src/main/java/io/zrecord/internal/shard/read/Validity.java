package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.ValidityUnits;
import io.zrecord.internal.shard.FixedRuns;

/** Reads the bits that tell which values of a field are present (FORMAT.md section 5). */
final class Validity {
  private Validity() {}

  static boolean isPresent(BlockCheck check, FixedRuns field, long slot) {
    check.validity(field, slot);
    return (field.presence(slot) >>> slot & 1) != 0;
  }

  /** Tells whether any value of the records {@code [from, to)} is absent. */
  static boolean hasAbsent(BlockCheck check, FixedRuns field, long from, long to) {
    for (long slot = from;
        slot < to;
        slot = (ValidityUnits.unitOf(slot) + 1) * ValidityUnits.UNIT_SLOTS) {
      check.validity(field, slot);
    }
    for (long slot = from; slot < to; slot = (slot | (Long.SIZE - 1)) + 1) {
      long absent = ~field.presence(slot) >>> slot;
      long count = Math.min(Long.SIZE - (slot & (Long.SIZE - 1)), to - slot);
      if (absent << -count != 0) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns the bits of the records {@code [from, to)}, from the first record of the 64 on among
   * which {@code from} is. The bits were checked.
   */
  static long[] copy(FixedRuns field, long from, long to) {
    long first = from >>> 6;
    long[] words = new long[(int) (((to - 1) >>> 6) - first) + 1];
    for (int i = 0; i < words.length; i++) {
      words[i] = field.presence((first + i) << 6);
    }
    return words;
  }
}
