package io.zrecord.inspect;

import java.io.Serializable;

/**
 * How far the order of the index is from that of the files, field by field, and what a scan in the order of the index pays for it. Two
 * values of a field that follow each other in the index are neighbours in the file if the second begins within {@value #PAGE_BYTES} bytes
 * after the end of the first: a scan that read the one has the other. The model of a scan reads pages of {@value #PAGE_BYTES} bytes,
 * each field by itself, and remembers the last page only; it knows nothing of read-ahead, nor of what the system still has in memory.
 *
 * @param pairCount pairs of values that follow each other in a field of a shard
 * @param scatteredCount those that are not neighbours in the file
 * @param jumpCount those of them that are in one file
 * @param jumpBytes sum of the distances of these, from the end of one value to the beginning of the next, forwards or backwards
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
  /** What is read at least. */
  public static final int PAGE_BYTES = 4096;

  /** Of no values. */
  public static final Fragmentation NONE = new Fragmentation(0, 0, 0, 0, 0, 0);

  /** The part of the pairs that is scattered, 0 to 1; 0 if there are none. */
  public double scatteredShare() {
    return pairCount == 0 ? 0 : (double) scatteredCount / pairCount;
  }

  /** Mean distance of scattered pairs within a file in bytes; 0 if there are none. */
  public double meanJumpBytes() {
    return jumpCount == 0 ? 0 : jumpBytes / jumpCount;
  }

  /**
   * Bytes that the modelled scan reads for a live byte: about 1 where values stand in order, and as many times more as it costs where they
   * do not. 1 if there are no live bytes.
   */
  public double scanCost() {
    return liveBytes == 0 ? 1 : (double) spannedBytes / liveBytes;
  }

  /**
   * Of both together.
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
