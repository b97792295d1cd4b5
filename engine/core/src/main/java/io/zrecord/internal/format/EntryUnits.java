package io.zrecord.internal.format;

/**
 * Says where things are in the section {@code offsets} of a field whose values have entries
 * (FORMAT.md section 4): the entries of 1,024 slots, the checksums of their values, and a checksum
 * of all that. A look-up of one value reads one unit.
 *
 * <pre>
 *  0                    16384                    20480     20484   20488
 * +--------------------+------------------------+---------+-------+--
 * | 1,024 × 16 B entry | 1,024 × u32 checksum   | CRC32C  | zero  | next unit
 * +--------------------+------------------------+---------+-------+--
 * </pre>
 *
 * <p>The last unit has fewer slots. A unit ends at a multiple of 8: the zeros are missing if its
 * checksum ends there.
 */
public final class EntryUnits {
  /** Slots of a unit, except the last. */
  public static final int UNIT_SLOTS = 1024;

  /** Longest unit without its checksum. */
  public static final int UNIT_BYTES = UNIT_SLOTS * (Entry.BYTES + Integer.BYTES);

  /** Distance from unit to unit. */
  private static final int STRIDE = UNIT_BYTES + 8;

  private static final int UNIT_SHIFT = 10;
  private static final int SLOT_MASK = UNIT_SLOTS - 1;

  private EntryUnits() {}

  /** Returns the length of the section. */
  public static long bytes(long slots) {
    long whole = slots >>> UNIT_SHIFT;
    int rest = (int) slots & SLOT_MASK;
    return whole * STRIDE + (rest == 0 ? 0 : paddedBytes(rest));
  }

  public static long unitCount(long slots) {
    return (slots + SLOT_MASK) >>> UNIT_SHIFT;
  }

  /** Returns the number of the unit of a slot. */
  public static long unitOf(long slot) {
    return slot >>> UNIT_SHIFT;
  }

  /** Returns the position of a slot's entry in the section. */
  public static long entryAt(long slot) {
    return (slot >>> UNIT_SHIFT) * STRIDE + (slot & SLOT_MASK) * Entry.BYTES;
  }

  /** Returns the position of the checksum of a slot's value in the section. */
  public static long checksumAt(long slot, long slots) {
    long unit = slot >>> UNIT_SHIFT;
    return unit * STRIDE
        + (long) unitSlots(unit, slots) * Entry.BYTES
        + (slot & SLOT_MASK) * Integer.BYTES;
  }

  /** Returns the position of the first byte of a unit. */
  public static long unitAt(long unit) {
    return unit * STRIDE;
  }

  /** Returns the number of slots of a unit. */
  public static int unitSlots(long unit, long slots) {
    return (int) Math.min(UNIT_SLOTS, slots - (unit << UNIT_SHIFT));
  }

  /** Returns the length of a unit without its checksum, which follows. */
  public static int unitBytes(long unit, long slots) {
    return unitSlots(unit, slots) * (Entry.BYTES + Integer.BYTES);
  }

  /** Returns the length of a unit with its checksum and zeros. */
  public static int paddedBytes(int unitSlots) {
    return (unitSlots * (Entry.BYTES + Integer.BYTES) + Integer.BYTES + 7) & -8;
  }
}
