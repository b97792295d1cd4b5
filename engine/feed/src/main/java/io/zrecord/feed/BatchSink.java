package io.zrecord.feed;

import org.jspecify.annotations.Nullable;

/**
 * Takes a loaded batch somewhere, such as into the memory of a device, before it is delivered. Each
 * loader thread has a sink of its own, which may hold a stream or a connection.
 */
@FunctionalInterface
public interface BatchSink extends AutoCloseable {
  /**
   * Takes a batch. Its buffers are direct and do not change until the consumer releases the batch;
   * the sink does not close it. The thread may be interrupted when the feed is closed.
   *
   * @return what {@link FeedBatch#placed} hands to the consumer
   * @throws Exception what ends the feed; {@link Feed#next} throws it
   */
  @Nullable
  Object place(FeedBatch batch) throws Exception;

  /** Called at the end of the loader thread. */
  @Override
  default void close() {}
}
