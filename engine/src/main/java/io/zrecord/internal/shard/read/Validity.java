package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.Run;
import io.zrecord.internal.shard.DenseField;
import io.zrecord.internal.shard.Windows;

/** Reads the bits that tell which values of a dense field are present (FORMAT.md section 5). */
final class Validity {
  private static final long BITS_PER_BLOCK = 8L * Run.BLOCK_BYTES;

  private Validity() {}

  static boolean isPresent(BlockCheck check, DenseField field, Windows validity, long index) {
    check.validity(field, validity, index);
    return isPresentUnchecked(validity, index);
  }

  static boolean isPresentUnchecked(Windows validity, long index) {
    long position = index >>> 3;
    return (validity.window(validity.ordinal(position)).get(validity.within(position))
                >> (index & 7)
            & 1)
        != 0;
  }

  /** Tells whether any value of the records {@code [from, to)} is absent. */
  static boolean hasAbsent(
      BlockCheck check, DenseField field, Windows validity, long from, long to) {
    for (long index = from; index < to; index = (index / BITS_PER_BLOCK + 1) * BITS_PER_BLOCK) {
      check.validity(field, validity, index);
    }
    long index = from;
    while (index < to) {
      long position = index >>> 3;
      if ((index & 63) == 0 && index + 64 <= to) {
        if (validity.longAt(position) != -1L) {
          return true;
        }
        index += 64;
      } else if (isPresentUnchecked(validity, index)) {
        index++;
      } else {
        return true;
      }
    }
    return false;
  }
}
