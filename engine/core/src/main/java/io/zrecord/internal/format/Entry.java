package io.zrecord.internal.format;

/**
 * The place of a value (FORMAT.md section 4): 16 bytes, as two little-endian longs.
 *
 * <pre>
 *  0               8       12      16
 * +---------------+-------+-------+
 * | offset u64    |chunk  |physical|
 * |               |id u32 |len u32 |
 * +---------------+-------+-------+
 *  word 0          word 1
 * </pre>
 *
 * <p>The offset comes first so that an entry is two aligned longs. Both words are 0 if the value is
 * absent.
 */
public final class Entry {
  /** Bytes of an entry. */
  public static final int BYTES = 16;

  private Entry() {}

  /** Returns the second word. */
  public static long word1(int chunkId, int physicalLength) {
    return ((long) physicalLength << 32) | (chunkId & 0xffff_ffffL);
  }

  public static int chunkId(long word1) {
    return (int) word1;
  }

  /**
   * Returns the physical length, an unsigned number. A length above 2³¹−1 is negative here, and
   * corrupt.
   */
  public static int physicalLength(long word1) {
    return (int) (word1 >>> 32);
  }

  public static boolean isAbsent(long word0, long word1) {
    return (word0 | word1) == 0;
  }
}
