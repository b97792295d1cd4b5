package io.zrecord.inspect;

import java.io.Serializable;

/**
 * The use of the bytes and records of chunk files. Live, dead and padding bytes add up to the
 * file's bytes.
 *
 * @param fileBytes published bytes of the chunk files
 * @param liveBytes stored bytes of the reachable values. Those of fields that this release cannot
 *     read count here in the sum of a shard, and as padding of its chunks: only their sum is known
 * @param deadBytes bytes of values that were replaced or deleted, and of fields that were dropped
 *     or written again
 * @param paddingBytes headers of the files, and the bytes after live values up to the next multiple
 *     of 8; in shards written in bulk, all bytes outside values
 * @param writtenRecords of a chunk, the records that a store wrote to the chunk, 0 if the chunk was
 *     written in bulk; a changed record counts again with each change. Of all chunks of a shard,
 *     the sum, or the records of the shard if no store wrote its chunks
 * @param liveRecords of a chunk, the records with a value in the chunk, 0 if the chunk was written
 *     in bulk; of all chunks of a shard, the records of the shard
 */
public record SpaceUsage(
    long fileBytes,
    long liveBytes,
    long deadBytes,
    long paddingBytes,
    long writtenRecords,
    long liveRecords)
    implements Serializable {
  /** The usage of no file. */
  public static final SpaceUsage NONE = new SpaceUsage(0, 0, 0, 0, 0, 0);

  /** Returns the share of live bytes, 0 to 1; 1 if there are no bytes. */
  public double byteUtilization() {
    return share(liveBytes, fileBytes);
  }

  /** Returns the share of written records that are alive, 0 to 1; 1 if none was written. */
  public double recordUtilization() {
    return Math.min(1, share(liveRecords, writtenRecords));
  }

  private static double share(long part, long whole) {
    return whole == 0 ? 1 : (double) part / whole;
  }

  /**
   * Returns the sum of this usage and another.
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
