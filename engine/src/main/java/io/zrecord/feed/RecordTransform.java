package io.zrecord.feed;

/**
 * Makes the values of a record of the batch out of stored ones: decodes, crops, augments. One for
 * each loader thread, made by the factory of {@link FeedGroup#transform}, so that it may hold
 * buffers, decoders and models.
 */
@FunctionalInterface
public interface RecordTransform extends AutoCloseable {
  /**
   * Transforms one record. The thread may be interrupted when the feed is closed.
   *
   * @param in the stored values; valid during the call
   * @param out takes every output field
   * @param seed of this record in this epoch: the same whatever the threads, the depth and the
   *     number of ranks, and after a resume
   * @throws Exception what makes the record a bad one
   */
  void apply(RecordInput in, RecordOutput out, long seed) throws Exception;

  /** At the end of the loader thread. */
  @Override
  default void close() {}
}
