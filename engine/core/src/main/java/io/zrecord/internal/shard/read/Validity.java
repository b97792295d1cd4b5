package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.ValidityUnits;
import io.zrecord.internal.shard.layout.PresenceBits;

/** Reads the bits that tell which values of a field are present (FORMAT.md section 5). */
final class Validity {
  private Validity() {}

  static boolean isPresent(TablesCheck check, PresenceBits bits, long slot) {
    check.validity(bits, slot);
    return bits.isPresent(slot);
  }

  /** Tells whether any value of the records {@code [from, to)} is absent. */
  static boolean hasAbsent(TablesCheck check, PresenceBits bits, long from, long to) {
    for (long slot = from;
        slot < to;
        slot = (ValidityUnits.unitOf(slot) + 1) * ValidityUnits.UNIT_SLOTS) {
      check.validity(bits, slot);
    }
    for (long slot = from; slot < to; slot = (slot | (Long.SIZE - 1)) + 1) {
      long absent = ~bits.of(slot) >>> slot;
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
  static long[] copy(PresenceBits bits, long from, long to) {
    long first = from >>> 6;
    long[] words = new long[(int) (((to - 1) >>> 6) - first) + 1];
    for (int i = 0; i < words.length; i++) {
      words[i] = bits.of((first + i) << 6);
    }
    return words;
  }
}
