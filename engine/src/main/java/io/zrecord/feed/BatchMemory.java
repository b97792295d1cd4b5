package io.zrecord.feed;

import java.nio.ByteBuffer;

/**
 * Where a feed's batches live. The default is {@link ByteBuffer#allocateDirect}; memory that
 * another process or a device sees is a reason for another one. Called by any loader thread,
 * seldom: buffers are kept and used again.
 */
@FunctionalInterface
public interface BatchMemory {
  /**
   * A direct buffer of its own, which the feed writes to until it frees it. When a feed is closed
   * it frees nothing: batches may be held.
   *
   * @param bytes the least capacity, ≥ 0
   */
  ByteBuffer allocate(int bytes);

  /**
   * Takes back what {@link #allocate} gave; neither the feed nor a batch reads or writes it any
   * more. Default: leaves it to the collector.
   */
  default void free(ByteBuffer allocated) {}
}
