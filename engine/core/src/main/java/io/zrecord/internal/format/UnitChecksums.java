package io.zrecord.internal.format;

/**
 * Says where things are in the section {@code units} of a tables file (FORMAT.md section 5): a u32
 * for each unit of the runs of a field, in groups that have a checksum of their own. A look-up of
 * one unit reads one group.
 *
 * <pre>
 *  0                             4096      4100
 * +------+------+-----+---------+---------+------+--
 * | u32 of unit 0, 1, …, 1023   | CRC32C  | u32 of unit 1024, …
 * +------+------+-----+---------+---------+------+--
 * </pre>
 *
 * <p>The last group is shorter.
 */
public final class UnitChecksums {
  /** Units of a group, except the last. */
  public static final int GROUP_UNITS = 1024;

  /** Longest group without its checksum. */
  public static final int GROUP_BYTES = GROUP_UNITS * Integer.BYTES;

  private static final int GROUP_SHIFT = 10;

  private UnitChecksums() {}

  /** Returns the length of the section. */
  public static long bytes(long unitCount) {
    return Integer.BYTES * (unitCount + groupCount(unitCount));
  }

  public static long groupCount(long unitCount) {
    return (unitCount + GROUP_UNITS - 1) >>> GROUP_SHIFT;
  }

  /** Returns the number of the group of a unit. */
  public static long groupOf(long unit) {
    return unit >>> GROUP_SHIFT;
  }

  /** Returns the position of a unit's checksum in the section. */
  public static long at(long unit) {
    return Integer.BYTES * (unit + groupOf(unit));
  }

  /** Returns the position of the first checksum of a group. */
  public static long groupAt(long group) {
    return at(group << GROUP_SHIFT);
  }

  /** Returns the length of a group without its checksum, which follows. */
  public static int groupBytes(long group, long unitCount) {
    return Integer.BYTES * (int) Math.min(GROUP_UNITS, unitCount - (group << GROUP_SHIFT));
  }
}
