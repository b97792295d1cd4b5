package io.zrecord.internal.io;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The only place where an intrinsic reads memory outside the heap. Only allocated buffers are
 * allowed here, never mapped ones: on a truncated file the intrinsic would kill the process.
 */
public final class OwnedMemory {
  private OwnedMemory() {}

  /**
   * Adds {@code [from, from + length)} of an allocated direct buffer to a checksum. The buffer
   * keeps its position and limit.
   */
  @SuppressForbidden
  public static void checksum(CRC32C crc, ByteBuffer allocated, int from, int length) {
    int position = allocated.position();
    int limit = allocated.limit();
    // A duplicate would be an allocation for every value.
    try {
      crc.update(allocated.limit(from + length).position(from));
    } finally {
      allocated.limit(limit).position(position);
    }
  }
}
