package io.zrecord.feed;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Holds direct memory that one batch after the other is written to. The memory grows with the
 * batches. A buffer belongs to the holder of its slot.
 */
final class BatchBuffer {
  private final BatchMemory memory;
  private ByteBuffer data = ByteBuffer.allocateDirect(0);
  /** What others see; they may move its position and limit. */
  private ByteBuffer view = data.asReadOnlyBuffer();
  /** Source of slices; nobody else sees this buffer. */
  private ByteBuffer whole = data.asReadOnlyBuffer();

  BatchBuffer(BatchMemory memory) {
    this.memory = memory;
  }

  /** Makes room for this many bytes, to be written to; previous content is lost. */
  ByteBuffer room(int bytes) {
    if (data.capacity() < bytes) {
      drop();
      allocate((int) Math.min(Integer.MAX_VALUE, bytes + (long) (bytes >> 2)));
    }
    return data.clear().limit(bytes);
  }

  /** Makes room for this many bytes, and keeps the first {@code keptBytes}. */
  ByteBuffer grow(int keptBytes, int bytes) {
    if (data.capacity() < bytes) {
      ByteBuffer old = data;
      allocate((int) Math.min(Integer.MAX_VALUE, bytes + (long) (bytes >> 1)));
      data.put(0, old, 0, keptBytes);
      free(old);
    }
    return data.clear().limit(bytes);
  }

  private void allocate(int bytes) {
    ByteBuffer allocated = memory.allocate(bytes);
    if (allocated == null
        || !allocated.isDirect()
        || allocated.isReadOnly()
        || allocated.capacity() < bytes) {
      throw new IllegalStateException(
          "The memory of the feed gave " + allocated + " where " + bytes
              + " bytes were asked for; it must give a direct buffer of at least that capacity that can be written to");
    }
    show(allocated);
  }

  private void show(ByteBuffer newData) {
    data = newData.order(ByteOrder.LITTLE_ENDIAN);
    view = data.asReadOnlyBuffer();
    whole = data.asReadOnlyBuffer().clear();
  }

  /** Returns the first bytes: the same buffer object at each call, from position 0 to its limit. */
  ByteBuffer view(int bytes) {
    return view.clear().limit(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Returns a part of the bytes, as a buffer of its own. */
  ByteBuffer slice(int from, int bytes) {
    return whole.slice(from, bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Returns the memory that {@link #view} shows, as it was allocated. */
  ByteBuffer allocated() {
    return data;
  }

  private void free(ByteBuffer old) {
    if (old.capacity() > 0) {
      memory.free(old);
    }
  }

  int capacityBytes() {
    return data.capacity();
  }

  /** Gives the memory back. */
  void drop() {
    free(data);
    show(ByteBuffer.allocateDirect(0));
  }
}
