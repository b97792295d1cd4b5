package io.zrecord.internal.io;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * The one place where an intrinsic reads memory that is not on the heap. Only buffers that were allocated may come here,
 * never mapped ones: on a file that was truncated the intrinsic would kill the process.
 */
public final class OwnedMemory {
  private OwnedMemory() {}

  /** Adds {@code [from, from + length)} of an allocated direct buffer to a checksum; the buffer's position and limit stay. */
  @SuppressForbidden
  public static void checksum(CRC32C crc, ByteBuffer allocated, int from, int length) {
    int position = allocated.position();
    int limit = allocated.limit();
    // Not a duplicate: that would be an allocation for every value.
    try {
      crc.update(allocated.limit(from + length).position(from));
    } finally {
      allocated.limit(limit).position(position);
    }
  }
}
