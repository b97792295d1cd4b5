package io.zrecord.nested;

import io.zrecord.errors.CorruptDataException;
import java.nio.ByteBuffer;

/**
 * Takes the buffers of a nested value one after the other, each checked against the length that its
 * type and count ask for. Belongs to one thread.
 */
final class NestedBuffers {
  static final int HEADER_BYTES = 2 * Integer.BYTES;
  private static final int ALIGNMENT_BYTES = 8;

  private final String resource;
  private final ByteBuffer bytes;
  private final int bufferCount;
  private int next;
  private long position;

  /** Reads the header of a little-endian value that begins at 0. */
  NestedBuffers(String resource, ByteBuffer bytes, int bufferCount) {
    this.resource = resource;
    this.bytes = bytes;
    this.bufferCount = bufferCount;
    this.position = headerBytes(bufferCount);
    int first = Integer.BYTES;
    if (bytes.limit() < HEADER_BYTES || bytes.getInt(0) != bufferCount) {
      throw corrupt("it does not have the " + bufferCount + " buffers of its type");
    }
    if (position > bytes.limit()) {
      throw corrupt("its " + bytes.limit() + " bytes end before its lengths do");
    }
    if (bytes.getInt(first) < 0) {
      throw corrupt("it has " + Integer.toUnsignedString(bytes.getInt(first)) + " elements");
    }
    requireZeros(HEADER_BYTES + (long) bufferCount * Integer.BYTES, position);
  }

  static long headerBytes(int bufferCount) {
    return padded(HEADER_BYTES + (long) bufferCount * Integer.BYTES);
  }

  static long padded(long length) {
    return (length + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
  }

  ByteBuffer bytes() {
    return bytes;
  }

  int elements() {
    return bytes.getInt(Integer.BYTES);
  }

  /** Takes a buffer that has no bytes. */
  void requireEmpty(String what) {
    exactly(what, 0);
  }

  /** Takes a buffer of a length and returns its position. */
  int exactly(String what, long length) {
    long found = take();
    if (found != length) {
      throw corrupt(
          "buffer " + (next - 1) + " (" + what + ") has " + found + " bytes instead of " + length);
    }
    return end(found);
  }

  /**
   * Takes a buffer of bits, the last byte filled with zeros, and returns its position; −1 if the
   * buffer is empty and may be.
   */
  int bits(String what, long bitCount, boolean mayBeEmpty) {
    long found = take();
    long length = (bitCount + 7) / 8;
    if (found == 0 && mayBeEmpty) {
      return -1;
    }
    if (found != length) {
      throw corrupt(
          "buffer " + (next - 1) + " (" + what + ") has " + found + " bytes instead of " + length);
    }
    int at = end(found);
    int used = (int) (bitCount & 7);
    if (used != 0 && (bytes.get(at + (int) length - 1) & 0xff) >> used != 0) {
      throw corrupt("buffer " + (next - 1) + " (" + what + ") has bits beyond its values");
    }
    return at;
  }

  /** Takes a buffer of offsets, which begin with 0 and never fall, and returns its position. */
  int offsets(int count) {
    int at = exactly("offsets", (count + 1L) * Integer.BYTES);
    int last = bytes.getInt(at);
    if (last != 0) {
      throw corrupt("the offsets in buffer " + (next - 1) + " begin with " + last);
    }
    for (int i = 1; i <= count; i++) {
      int offset = bytes.getInt(at + i * Integer.BYTES);
      if (offset < last) {
        throw corrupt(
            "the offsets in buffer " + (next - 1) + " fall from " + last + " to " + offset);
      }
      last = offset;
    }
    return at;
  }

  /** Requires that all buffers were taken and end with the value. */
  void requireEnd() {
    if (position != bytes.limit()) {
      throw corrupt("it has " + bytes.limit() + " bytes, but its buffers end at " + position);
    }
  }

  /** Returns the length of the next buffer, which lies within the value. */
  private long take() {
    if (next == bufferCount) {
      throw new IllegalStateException("All " + bufferCount + " buffers are taken");
    }
    long length = bytes.getInt(HEADER_BYTES + next * Integer.BYTES) & 0xffff_ffffL;
    next++;
    if (padded(length) > bytes.limit() - position) {
      throw corrupt("buffer " + (next - 1) + " of " + length + " bytes ends beyond the value's "
          + bytes.limit());
    }
    return length;
  }

  private int end(long length) {
    long at = position;
    position += padded(length);
    requireZeros(at + length, position);
    return (int) at;
  }

  private void requireZeros(long from, long to) {
    for (long i = from; i < to; i++) {
      if (bytes.get((int) i) != 0) {
        throw corrupt("byte " + i + " between its buffers is not zero");
      }
    }
  }

  CorruptDataException corrupt(String reason) {
    return new CorruptDataException(
        resource, "Cannot read a nested value of " + resource + ": " + reason);
  }
}
