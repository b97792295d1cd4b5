package io.zrecord.feed;

/**
 * What a feed did so far.
 *
 * @param batches handed out
 * @param records in them
 * @param bytes of their values
 * @param readyBatches that were there when they were asked for
 * @param idleNanos that the consumer waited. It should be about 0: much of it all the time means that loading is slower than training,
 *     try more loader threads; much of it now and then, try a larger depth
 * @param loadNanos that loaders spent on loading, all together
 * @param waitNanos that loaders waited for room, all together
 */
public record FeedStatistics(
    long batches,
    long records,
    long bytes,
    long readyBatches,
    long idleNanos,
    long loadNanos,
    long waitNanos) {

  /** Part of the batches that were there when they were asked for, 0 to 1. */
  public double readyRatio() {
    return batches == 0 ? 1 : (double) readyBatches / batches;
  }
}
