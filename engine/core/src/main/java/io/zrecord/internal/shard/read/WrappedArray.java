package io.zrecord.internal.shard.read;

import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * An array as a buffer, the same for calls with the same array: values are often copied one by one
 * into one array. Belongs to one thread.
 */
final class WrappedArray {
  private @Nullable ByteBuffer buffer;

  /** Returns the array as a buffer. */
  @SuppressWarnings("ByteBufferBackingArray") // The buffer begins with the array
  ByteBuffer of(byte[] array) {
    ByteBuffer wrapped = buffer;
    if (wrapped == null || wrapped.array() != array) {
      wrapped = ByteBuffer.wrap(array);
      buffer = wrapped;
    }
    return wrapped;
  }

  /** Forgets the array. */
  void clear() {
    buffer = null;
  }
}
