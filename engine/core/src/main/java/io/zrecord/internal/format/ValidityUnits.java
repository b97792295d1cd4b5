package io.zrecord.internal.format;

/**
 * Says where things are in the section {@code validity} of a tables file (FORMAT.md section 5): a
 * bit for each slot, least significant bit first, in units that have a checksum of their own.
 *
 * <pre>
 *  0                       4096      4100    4104
 * +-----------------------+---------+-------+--
 * | bits of 32,768 slots  | CRC32C  | zero  | next unit
 * +-----------------------+---------+-------+--
 * </pre>
 *
 * <p>The last unit has only as many u64 as its slots need; bits without a slot are 0. Everything is
 * at a multiple of 8, so that 64 bits are read at once.
 */
public final class ValidityUnits {
  /** Longest unit without its checksum. */
  public static final int UNIT_BYTES = 4096;

  /** Slots of a unit, except the last. */
  public static final int UNIT_SLOTS = UNIT_BYTES * Byte.SIZE;

  /** Bytes of the checksum after a unit, and of the zeros that follow it. */
  public static final int CHECKSUM_BYTES = 8;

  private static final int UNIT_SHIFT = 15;
  private static final int WORD_SHIFT = 6;

  private ValidityUnits() {}

  /** Returns the length of the section. */
  public static long bytes(long slots) {
    return Long.BYTES * words(slots) + CHECKSUM_BYTES * unitCount(slots);
  }

  public static long unitCount(long slots) {
    return (slots + UNIT_SLOTS - 1) >>> UNIT_SHIFT;
  }

  /** Returns the number of the unit of a slot. */
  public static long unitOf(long slot) {
    return slot >>> UNIT_SHIFT;
  }

  /** Returns the position in the section of the u64 with the bit of a slot. */
  public static long wordAt(long slot) {
    return Long.BYTES * (slot >>> WORD_SHIFT) + CHECKSUM_BYTES * unitOf(slot);
  }

  /** Returns the position of the first byte of a unit. */
  public static long unitAt(long unit) {
    return unit * (UNIT_BYTES + CHECKSUM_BYTES);
  }

  /** Returns the length of a unit without its checksum, which follows. */
  public static int unitBytes(long unit, long slots) {
    return Long.BYTES * (int) words(Math.min(UNIT_SLOTS, slots - (unit << UNIT_SHIFT)));
  }

  private static long words(long slots) {
    return (slots + Long.SIZE - 1) >>> WORD_SHIFT;
  }
}
