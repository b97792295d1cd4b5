package io.zrecord.feed;

/**
 * Makes the values of a record of the batch out of stored values: decodes, crops, augments. The
 * factory of {@link FeedGroup#transform} makes a transform for each loader thread, which may hold
 * buffers, decoders and models.
 */
@FunctionalInterface
public interface RecordTransform extends AutoCloseable {
  /**
   * Transforms one record. The thread may be interrupted when the feed is closed.
   *
   * @param in the stored values; valid during the call
   * @param out takes every output field
   * @param seed of this record in this epoch. It does not depend on the threads, the depth or the
   *     number of ranks, and stays the same after a resume
   * @throws Exception what makes the record a bad one
   */
  void apply(RecordInput in, RecordOutput out, long seed) throws Exception;

  /** Called at the end of the loader thread. */
  @Override
  default void close() {}
}
