package io.zrecord.internal.format;

/**
 * Says where things are in the section {@code offsets} of a field whose values are in variable runs
 * (FORMAT.md section 5): blocks of 1,024 values, the last of each run shorter. A look-up of one
 * value reads one block.
 *
 * <pre>
 *  0       8                8 + 4·k            8 + 4·(k + u)   12 + 4·(k + u)
 * +-------+----------------+------------------+---------------+-------+--
 * | base  | k × u32 end of | u × u32 checksum | CRC32C        | zeros | next block
 * | u64   | value − base   | of unit          |               | to 8  |
 * +-------+----------------+------------------+---------------+-------+--
 * </pre>
 *
 * <p>The base is the position in the chunk where the value before the block ends, or where the run
 * begins. A unit has {@code unitValues} values, the last of a block fewer; without checksums
 * {@code unitValues} and u are 0.
 */
public final class VariableBlocks {
  /** Values of a block, except the last of a run. */
  public static final int BLOCK_VALUES = 1 << 10;

  /** Number of bits of the number of a value in its block. */
  public static final int BLOCK_SHIFT = 10;

  /** Position in a block of the end of the first value. */
  public static final int ENDS_AT = Long.BYTES;

  /** Longest block, with its checksum and zeros. */
  public static final int MOST_BYTES = paddedBytes(BLOCK_VALUES, 1);

  /** Bytes from which the ends of a block cannot be told any more. */
  public static final long SPAN_BYTES = 1L << 32;

  private VariableBlocks() {}

  /** Returns the number of blocks of a run. */
  public static long blockCount(long values) {
    return (values + BLOCK_VALUES - 1) >>> BLOCK_SHIFT;
  }

  /** Returns the number of values of a block of a run. */
  public static int valuesOf(long block, long values) {
    return (int) Math.min(BLOCK_VALUES, values - (block << BLOCK_SHIFT));
  }

  /** Returns the number of units of a run, or of a block. */
  public static long unitCount(long values, int unitValues) {
    return unitValues == 0 ? 0 : (values + unitValues - 1) / unitValues;
  }

  /** Returns the position in a block of the checksum of its first unit. */
  public static int checksumsAt(int values) {
    return ENDS_AT + Integer.BYTES * values;
  }

  /** Returns the length of a block without its checksum, which follows. */
  public static int bytes(int values, int unitValues) {
    return checksumsAt(values) + Integer.BYTES * (int) unitCount(values, unitValues);
  }

  /** Returns the length of a block with its checksum and zeros. */
  public static int paddedBytes(int values, int unitValues) {
    return (bytes(values, unitValues) + Integer.BYTES + 7) & -8;
  }

  /** Returns the length of all blocks of a run. */
  public static long runBytes(long values, int unitValues) {
    int rest = (int) (values & (BLOCK_VALUES - 1));
    return (values >>> BLOCK_SHIFT) * paddedBytes(BLOCK_VALUES, unitValues)
        + (rest == 0 ? 0 : paddedBytes(rest, unitValues));
  }
}
