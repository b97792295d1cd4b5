package io.zrecord.feed;

/**
 * Reports what a feed did so far. Times of loaders are summed over their threads.
 *
 * @param batches number of batches handed out
 * @param records number of records in those batches
 * @param bytes bytes of their values
 * @param readyBatches number of batches that were there when the consumer asked for them
 * @param droppedBatches number of batches that were left out because of bad records
 * @param badRecords number of bad records found
 * @param idleNanos time that the consumer waited; it should be about 0. If it is high all the time,
 *     loading is slower than training: try more loader threads. If it is high now and then, try a
 *     larger depth
 * @param sampleNanos time for indices
 * @param readNanos time for finding values, checking them, and copying those that are not
 *     compressed
 * @param decodeNanos time for reading compressed values
 * @param transformNanos time for transforms and padding
 * @param placeNanos time in the sink
 * @param waitNanos time that loaders waited for room
 * @param requests requests for bytes of values to a storage that does not map its files
 * @param requestedBytes bytes that these requests asked for. Their ratio to {@code bytes} says what
 *     joined gaps cost
 * @param requestNanos time that loaders waited for these requests
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
    long waitNanos,
    long requests,
    long requestedBytes,
    long requestNanos) {

  /** Returns the part of the batches that were there when the consumer asked for them, 0 to 1. */
  public double readyRatio() {
    return batches == 0 ? 1 : (double) readyBatches / batches;
  }
}
