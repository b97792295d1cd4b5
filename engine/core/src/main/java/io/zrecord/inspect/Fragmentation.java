package io.zrecord.inspect;

import java.io.Serializable;

/**
 * How far the order of the files is from the order of the index, field by field, and what a scan in
 * index order pays for the difference.
 *
 * <p>Two values of a field that follow each other in the index are neighbours in the file if the
 * second begins within {@value #PAGE_BYTES} bytes after the end of the first: a scan that reads the
 * first value then has the second too. The modelled scan reads pages of {@value #PAGE_BYTES} bytes,
 * each field by itself, and remembers only the last page. The model ignores read-ahead and the page
 * cache of the operating system.
 *
 * @param pairCount pairs of values that follow each other in a field of a shard
 * @param scatteredCount pairs that are not neighbours in the file
 * @param jumpCount scattered pairs within one file
 * @param jumpBytes sum of the distances of the pairs in {@code jumpCount}, from the end of one
 *     value to the beginning of the next, forwards or backwards
 * @param liveBytes stored bytes of the values
 * @param spannedBytes bytes of the pages that the modelled scan reads
 */
public record Fragmentation(
    long pairCount,
    long scatteredCount,
    long jumpCount,
    double jumpBytes,
    long liveBytes,
    long spannedBytes)
    implements Serializable {
  /** The smallest unit of a read in the model, in bytes. */
  public static final int PAGE_BYTES = 4096;

  /** The fragmentation of no values. */
  public static final Fragmentation NONE = new Fragmentation(0, 0, 0, 0, 0, 0);

  /** Returns the share of scattered pairs, 0 to 1; 0 if there are no pairs. */
  public double scatteredShare() {
    return pairCount == 0 ? 0 : (double) scatteredCount / pairCount;
  }

  /**
   * Returns the mean distance in bytes of scattered pairs within a file; 0 if there are no such
   * pairs.
   */
  public double meanJumpBytes() {
    return jumpCount == 0 ? 0 : jumpBytes / jumpCount;
  }

  /**
   * Returns the bytes that the modelled scan reads for each live byte. About 1 where values lie in
   * index order, and larger by the factor of the extra cost where they do not. 1 if there are no
   * live bytes.
   */
  public double scanCost() {
    return liveBytes == 0 ? 1 : (double) spannedBytes / liveBytes;
  }

  /**
   * Returns the sum of this fragmentation and another.
   *
   * @throws ArithmeticException if a sum exceeds 2⁶³−1
   */
  public Fragmentation plus(Fragmentation other) {
    return new Fragmentation(
        Math.addExact(pairCount, other.pairCount),
        Math.addExact(scatteredCount, other.scatteredCount),
        Math.addExact(jumpCount, other.jumpCount),
        jumpBytes + other.jumpBytes,
        Math.addExact(liveBytes, other.liveBytes),
        Math.addExact(spannedBytes, other.spannedBytes));
  }
}
