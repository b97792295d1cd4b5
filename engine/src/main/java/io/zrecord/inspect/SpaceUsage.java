package io.zrecord.inspect;

import java.io.Serializable;

/**
 * What the bytes and records of chunk files are used for. The three kinds of bytes add up to the file's.
 *
 * @param fileBytes published bytes of the chunk files
 * @param liveBytes stored bytes of values that can be reached
 * @param deadBytes bytes of values that were replaced or deleted, with their padding
 * @param paddingBytes headers of the files, and the bytes behind live values up to the next multiple of 8; in shards that were written in
 *     bulk all that no value takes
 * @param writtenRecords records that were written to the files: a record that is changed is written once more
 * @param liveRecords records that have a value there: of a chunk. Of all chunks of a shard together, the records of the shard
 */
public record SpaceUsage(
    long fileBytes,
    long liveBytes,
    long deadBytes,
    long paddingBytes,
    long writtenRecords,
    long liveRecords)
    implements Serializable {
  /** Of no file at all. */
  public static final SpaceUsage NONE = new SpaceUsage(0, 0, 0, 0, 0, 0);

  /** The part of the bytes that is alive, 0 to 1; 1 if there are no bytes. */
  public double byteUtilization() {
    return share(liveBytes, fileBytes);
  }

  /** The part of the written records that is alive, 0 to 1; 1 if none was written. */
  public double recordUtilization() {
    return Math.min(1, share(liveRecords, writtenRecords));
  }

  private static double share(long part, long whole) {
    return whole == 0 ? 1 : (double) part / whole;
  }

  /**
   * Of both together.
   *
   * @throws ArithmeticException if a sum exceeds 2⁶³−1
   */
  public SpaceUsage plus(SpaceUsage other) {
    return new SpaceUsage(
        Math.addExact(fileBytes, other.fileBytes),
        Math.addExact(liveBytes, other.liveBytes),
        Math.addExact(deadBytes, other.deadBytes),
        Math.addExact(paddingBytes, other.paddingBytes),
        Math.addExact(writtenRecords, other.writtenRecords),
        Math.addExact(liveRecords, other.liveRecords));
  }
}
