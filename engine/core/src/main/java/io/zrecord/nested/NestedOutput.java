package io.zrecord.nested;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Writes the header and the buffers of a nested value. Belongs to one thread. */
final class NestedOutput {
  private final ByteBuffer target;
  private final int bufferCount;
  private int next;
  private int position;

  /** Clears the first {@code length} bytes of the target. */
  NestedOutput(byte[] target, int length, int bufferCount) {
    this.target = ByteBuffer.wrap(target).order(ByteOrder.LITTLE_ENDIAN);
    this.bufferCount = bufferCount;
    Arrays.fill(target, 0, length, (byte) 0);
    this.position = (int) NestedBuffers.headerBytes(bufferCount);
  }

  void header(int elements) {
    target.putInt(0, bufferCount).putInt(Integer.BYTES, elements);
  }

  void empty() {
    end(0);
  }

  void presence(boolean[] absent, int count) {
    for (int i = 0; i < count; i++) {
      if (!absent[i]) {
        set(i);
      }
    }
    end((count + 7) / 8);
  }

  void bits(byte[] flags, int count) {
    for (int i = 0; i < count; i++) {
      if (flags[i] != 0) {
        set(i);
      }
    }
    end((count + 7) / 8);
  }

  void offsets(int[] ends, int count) {
    for (int i = 0; i < count; i++) {
      target.putInt(position + (i + 1) * Integer.BYTES, ends[i]);
    }
    end((count + 1) * Integer.BYTES);
  }

  void bytes(byte[] data, int length) {
    target.put(position, data, 0, length);
    end(length);
  }

  private void set(int bit) {
    int at = position + (bit >> 3);
    target.put(at, (byte) (target.get(at) | 1 << (bit & 7)));
  }

  private void end(int length) {
    target.putInt(NestedBuffers.HEADER_BYTES + next * Integer.BYTES, length);
    next++;
    position += (int) NestedBuffers.padded(length);
  }
}
