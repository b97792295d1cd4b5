package io.zrecord.internal.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Says what the values of a field in a block of {@value #SLOTS} slots are (FORMAT.md section 5.5).
 * A bound is a key of {@link ValueOrder}; keys are compared as unsigned.
 *
 * <pre>
 *  0              8           16            32            48          52       56
 * +--------------+-----------+-------------+-------------+-----------+--------+
 * | u64 absent   | u64 NaN   | 16 B least  | 16 B most   | u32 flags | CRC32C |
 * +--------------+-----------+-------------+-------------+-----------+--------+
 * </pre>
 *
 * @param absentCount number of absent values
 * @param nanCount number of values that are not a number, or more
 * @param isKnown whether the bounds hold; if not, the values may be any, and {@code nanCount} is 0
 * @param isExact whether the bounds are keys of values, and {@code nanCount} is no more than it
 *     must be
 * @param leastHigh first 8 bytes of the least key; all keys are within the bounds, but those of
 *     values that are not a number
 * @param leastLow the other 8 bytes
 * @param mostHigh first 8 bytes of the greatest key
 * @param mostLow the other 8 bytes
 */
public record StatisticsRecord(
    long absentCount,
    long nanCount,
    boolean isKnown,
    boolean isExact,
    long leastHigh,
    long leastLow,
    long mostHigh,
    long mostLow) {
  /** Slots of a block, except the last. */
  public static final int SLOTS = 1 << 16;

  /** Length of a record with its checksum. */
  public static final int BYTES = 56;

  private static final int CHECKSUM_AT = BYTES - Integer.BYTES;
  private static final int FLAGS_AT = CHECKSUM_AT - Integer.BYTES;
  private static final int KNOWN = 1;
  private static final int EXACT = 2;

  /** The record of no values. */
  public static final StatisticsRecord NOTHING =
      new StatisticsRecord(0, 0, true, true, -1, -1, 0, 0);

  /** Returns what is said of values that were not looked at. */
  public static StatisticsRecord unknown(long absentCount) {
    return new StatisticsRecord(absentCount, 0, false, false, 0, 0, 0, 0);
  }

  /** Returns the number of blocks of a shard. */
  public static long count(long slots) {
    return (slots + SLOTS - 1) / SLOTS;
  }

  /** Returns the length of the section. */
  public static long bytes(long slots) {
    return BYTES * count(slots);
  }

  /** Tells whether there are bounds that no value is within. */
  public boolean isEmpty() {
    return ValueOrder.compare(leastHigh, leastLow, mostHigh, mostLow) > 0;
  }

  /** Tells whether the key of a value is within the bounds. */
  public boolean contains(long high, long low) {
    if (!isKnown) {
      return true;
    }
    return ValueOrder.compare(leastHigh, leastLow, high, low) <= 0
        && ValueOrder.compare(high, low, mostHigh, mostLow) <= 0;
  }

  /**
   * Returns the record of values of which some are of this record, and all others of another.
   *
   * @param isWhole whether all values of both records are among them
   * @param absent number of those that are absent
   * @param present number of the others
   */
  public StatisticsRecord join(StatisticsRecord other, boolean isWhole, long absent, long present) {
    if (!isKnown || !other.isKnown) {
      return unknown(absent);
    }
    boolean isLess = ValueOrder.compare(leastHigh, leastLow, other.leastHigh, other.leastLow) < 0;
    boolean isMore = ValueOrder.compare(mostHigh, mostLow, other.mostHigh, other.mostLow) > 0;
    return new StatisticsRecord(
        absent,
        Math.min(nanCount + other.nanCount, present),
        true,
        isWhole && isExact && other.isExact,
        isLess ? leastHigh : other.leastHigh,
        isLess ? leastLow : other.leastLow,
        isMore ? mostHigh : other.mostHigh,
        isMore ? mostLow : other.mostLow);
  }

  /**
   * Returns the record as bytes.
   *
   * @param number of the block
   */
  public byte[] encode(Binding binding, long number) {
    byte[] bytes = new byte[BYTES];
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    buffer.putLong(absentCount).putLong(nanCount).order(ByteOrder.BIG_ENDIAN);
    buffer.putLong(leastHigh).putLong(leastLow).putLong(mostHigh).putLong(mostLow);
    buffer.order(ByteOrder.LITTLE_ENDIAN).putInt((isKnown ? KNOWN : 0) | (isExact ? EXACT : 0));
    int crc = Crc32c.of(bytes, 0, CHECKSUM_AT);
    buffer.putInt(binding.bind(Binding.Kind.STATISTICS, number, crc));
    return bytes;
  }

  /**
   * Reads a record.
   *
   * @param section the bytes of all records
   * @param number of the block
   * @param slots number of slots in the block
   * @throws IllegalArgumentException if the record is damaged; the message says how
   */
  public static StatisticsRecord decode(byte[] section, int number, int slots, Binding binding) {
    int at = number * BYTES;
    ByteBuffer buffer = ByteBuffer.wrap(section, at, BYTES).slice().order(ByteOrder.LITTLE_ENDIAN);
    int crc = binding.bind(Binding.Kind.STATISTICS, number, Crc32c.of(section, at, CHECKSUM_AT));
    if (crc != buffer.getInt(CHECKSUM_AT)) {
      throw new IllegalArgumentException(
          "the statistics of block " + number + " have a checksum that does not hold");
    }
    int flags = buffer.getInt(FLAGS_AT);
    if ((flags & ~(KNOWN | EXACT)) != 0 || flags == EXACT) {
      throw new IllegalArgumentException(
          "the statistics of block " + number + " have invalid flags: " + flags);
    }
    long absent = buffer.getLong(0);
    long nan = buffer.getLong(8);
    if (absent < 0 || absent > slots || nan < 0 || nan > slots - absent) {
      throw new IllegalArgumentException("the statistics of block " + number + " of " + slots
          + " slots have " + absent + " absent values and " + nan + " that are not a number");
    }
    buffer.order(ByteOrder.BIG_ENDIAN);
    return new StatisticsRecord(
        absent,
        nan,
        (flags & KNOWN) != 0,
        (flags & EXACT) != 0,
        buffer.getLong(16),
        buffer.getLong(24),
        buffer.getLong(32),
        buffer.getLong(40));
  }
}
