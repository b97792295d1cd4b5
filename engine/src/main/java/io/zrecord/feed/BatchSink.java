package io.zrecord.feed;

import org.jspecify.annotations.Nullable;

/**
 * Takes a loaded batch somewhere, such as into the memory of a device, before it is delivered. One
 * for each loader thread, so that it may hold a stream or a connection.
 */
@FunctionalInterface
public interface BatchSink extends AutoCloseable {
  /**
   * Takes the batch, whose buffers are direct and stay as they are until the consumer releases it;
   * the sink does not close it. The thread may be interrupted when the feed is closed.
   *
   * @return what {@link FeedBatch#placed} hands to the consumer
   * @throws Exception what ends the feed; {@link Feed#next} throws it
   */
  @Nullable
  Object place(FeedBatch batch) throws Exception;

  /** At the end of the loader thread. */
  @Override
  default void close() {}
}
