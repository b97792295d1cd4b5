package io.zrecord.feed;

import java.nio.ByteBuffer;

/**
 * Allocates the memory in which a feed's batches live. The default is
 * {@link ByteBuffer#allocateDirect}. Another source is of use if another process or a device is to
 * see the memory. Any loader thread calls it, seldom: a feed keeps buffers and uses them again.
 */
@FunctionalInterface
public interface BatchMemory {
  /**
   * Allocates a direct buffer that nobody else uses; the feed writes to the buffer until the feed
   * frees it. A feed that is closed frees nothing, because batches may still be held.
   *
   * @param bytes the least capacity, ≥ 0
   */
  ByteBuffer allocate(int bytes);

  /**
   * Takes back what {@link #allocate} gave; neither the feed nor a batch reads or writes the buffer
   * any more. By default leaves the buffer to the collector.
   */
  default void free(ByteBuffer allocated) {}
}
