package io.zrecord.internal.format;

/**
 * Says where things are in the section {@code offsets} of a field whose values are compressed in
 * blocks (FORMAT.md section 5): records of 512 blocks, and a checksum of them. A look-up of one
 * block reads a few units at most.
 *
 * <pre>
 *  0                    20480     20484   20488
 * +--------------------+---------+-------+--
 * | 512 × 40 B record  | CRC32C  | zero  | next unit
 * +--------------------+---------+-------+--
 *
 *  0               8               16      20      24      28      32      36      40
 * +---------------+---------------+-------+-------+-------+-------+-------+-------+
 * | first slot    | position in   |stored | raw   | slots | flags | check-| zero  |
 * | u64           | the chunk u64 |bytes  | bytes | u32   | u32   | sum   | u32   |
 * +---------------+---------------+-------+-------+-------+-------+-------+-------+
 * </pre>
 *
 * <p>The last unit has fewer records.
 */
public final class BlockUnits {
  /** Records of a unit, except the last. */
  public static final int UNIT_BLOCKS = 512;

  /** Length of a record. */
  public static final int RECORD_BYTES = 40;

  /** Longest unit without its checksum. */
  public static final int UNIT_BYTES = UNIT_BLOCKS * RECORD_BYTES;

  /** Bytes of the checksum after a unit, and of the zeros that follow it. */
  public static final int CHECKSUM_BYTES = 8;

  public static final int POSITION_AT = 8;
  public static final int STORED_AT = 16;
  public static final int RAW_AT = 20;
  public static final int SLOTS_AT = 24;
  public static final int FLAGS_AT = 28;
  public static final int CHECKSUM_AT = 32;
  public static final int ZERO_AT = 36;

  private static final int STRIDE = UNIT_BYTES + CHECKSUM_BYTES;
  private static final int UNIT_SHIFT = 9;
  private static final int BLOCK_MASK = UNIT_BLOCKS - 1;

  private BlockUnits() {}

  /** Returns the length of the section. */
  public static long bytes(long blocks) {
    return blocks * RECORD_BYTES + unitCount(blocks) * CHECKSUM_BYTES;
  }

  /** Returns the number of blocks in a section; -1 if no section has that length. */
  public static long blocks(long sectionBytes) {
    long rest = sectionBytes % STRIDE;
    long blocks = sectionBytes / STRIDE * UNIT_BLOCKS
        + (rest == 0 ? 0 : (rest - CHECKSUM_BYTES) / RECORD_BYTES);
    return bytes(blocks) == sectionBytes ? blocks : -1;
  }

  public static long unitCount(long blocks) {
    return (blocks + BLOCK_MASK) >>> UNIT_SHIFT;
  }

  /** Returns the number of the unit of a block. */
  public static long unitOf(long block) {
    return block >>> UNIT_SHIFT;
  }

  /** Returns the position of a unit in the section. */
  public static long unitAt(long unit) {
    return unit * STRIDE;
  }

  /** Returns the length of a unit without its checksum, which follows. */
  public static int unitBytes(long unit, long blocks) {
    return RECORD_BYTES * (int) Math.min(UNIT_BLOCKS, blocks - (unit << UNIT_SHIFT));
  }

  /** Returns the position of a block's record in the section. */
  public static long recordAt(long block) {
    return (block >>> UNIT_SHIFT) * STRIDE + (block & BLOCK_MASK) * RECORD_BYTES;
  }
}
