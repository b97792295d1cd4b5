package io.zrecord.scan;

/**
 * How to divide a scan.
 *
 * @param splitCount exactly this many splits (fewer if there are fewer records), equal in bytes; 0
 *     divides along the boundaries of chunks, by the other parameters
 * @param minimumSplits at least this many splits, unless they would be smaller than
 *     {@code minSplitBytes}
 * @param minSplitBytes smaller neighbours are packed together
 * @param maxSplitBytes bigger chunks are divided evenly by records; at least {@code minSplitBytes}
 */
public record SplitSizing(
    int splitCount, int minimumSplits, long minSplitBytes, long maxSplitBytes) {
  private static final long MIB = 1 << 20;

  public SplitSizing {
    if (splitCount < 0 || minimumSplits < 0 || minSplitBytes < 1 || maxSplitBytes < minSplitBytes) {
      throw new IllegalArgumentException(
          "Cannot divide a scan into splitCount " + splitCount + ", minimumSplits "
              + minimumSplits + ", minSplitBytes " + minSplitBytes + ", maxSplitBytes "
              + maxSplitBytes
              + ": counts are >= 0 and 1 <= minSplitBytes <= maxSplitBytes");
    }
  }

  /** Returns a sizing for splits of 1 to 128 MiB. */
  public static SplitSizing atLeast(int minimumSplits) {
    return new SplitSizing(0, minimumSplits, MIB, 128 * MIB);
  }

  /** Returns a sizing for exactly {@code splitCount} > 0 splits. */
  public static SplitSizing exactly(int splitCount) {
    return new SplitSizing(splitCount, 0, MIB, 128 * MIB);
  }
}
