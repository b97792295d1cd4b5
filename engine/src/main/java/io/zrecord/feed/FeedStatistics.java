package io.zrecord.feed;

/**
 * What a feed did so far. Times of loaders are summed over their threads.
 *
 * @param batches handed out
 * @param records in them
 * @param bytes of their values
 * @param readyBatches that were there when they were asked for
 * @param droppedBatches that were left out because of bad records
 * @param badRecords that were found
 * @param idleNanos that the consumer waited. It should be about 0: much of it all the time means
 *     that loading is slower than training, try more loader threads; much of it now and then, try a
 *     larger depth
 * @param sampleNanos for indices
 * @param readNanos for finding values, checking them, and copying those that are not compressed
 * @param decodeNanos for reading compressed values
 * @param transformNanos for transforms and padding
 * @param placeNanos in the sink
 * @param waitNanos that loaders waited for room
 */
public record FeedStatistics(
    long batches,
    long records,
    long bytes,
    long readyBatches,
    long droppedBatches,
    long badRecords,
    long idleNanos,
    long sampleNanos,
    long readNanos,
    long decodeNanos,
    long transformNanos,
    long placeNanos,
    long waitNanos) {

  /** Part of the batches that were there when they were asked for, 0 to 1. */
  public double readyRatio() {
    return batches == 0 ? 1 : (double) readyBatches / batches;
  }
}
