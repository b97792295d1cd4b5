package io.zrecord.feed;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Direct memory that one batch after the other is written to, and grows with them. Belongs to
 * whoever has its slot.
 */
final class BatchBuffer {
  private final BatchMemory memory;
  private ByteBuffer data = ByteBuffer.allocateDirect(0);
  /** What others see, who may move its position and limit. */
  private ByteBuffer view = data.asReadOnlyBuffer();
  /** For slices; nobody else sees it. */
  private ByteBuffer whole = data.asReadOnlyBuffer();

  BatchBuffer(BatchMemory memory) {
    this.memory = memory;
  }

  /** Room for that many bytes, to be written to; what was there before is lost. */
  ByteBuffer room(int bytes) {
    if (data.capacity() < bytes) {
      drop();
      allocate((int) Math.min(Integer.MAX_VALUE, bytes + (long) (bytes >> 2)));
    }
    return data.clear().limit(bytes);
  }

  /** The same, keeping the first bytes. */
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

  /** The first bytes: the same buffer object at each call, from position 0 to its limit. */
  ByteBuffer view(int bytes) {
    return view.clear().limit(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** A part of it, as a buffer of its own. */
  ByteBuffer slice(int from, int bytes) {
    return whole.slice(from, bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** What {@link #view} shows, as it was allocated. */
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
