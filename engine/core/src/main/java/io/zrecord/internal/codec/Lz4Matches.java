package io.zrecord.internal.codec;

import java.util.zip.DataFormatException;

/**
 * Requires that each match of an LZ4 block begins before the bytes that it gives. No compressor
 * writes another one. For the distance 0 the native decoder gives zeros, but the one in Java gives
 * what was in the target before.
 */
final class Lz4Matches {
  private static final int LONG = 15;

  private Lz4Matches() {}

  /**
   * Checks a payload. Does not decode it, so the block may still be damaged.
   *
   * @throws DataFormatException if a match has the distance 0
   */
  static void require(byte[] bytes, int offset, int length) throws DataFormatException {
    long end = (long) offset + length;
    for (long at = offset; at < end; ) {
      long token = bytes[(int) at++] & 0xff;
      long literals = token >>> 4;
      if (literals == LONG) {
        int more;
        do {
          more = at < end ? bytes[(int) at++] & 0xff : 0;
          literals += more;
        } while (more == 0xff);
      }
      at += literals;
      if (at + 2 > end) {
        // The last literals, or a block that is cut, which the decoder refuses.
        return;
      }
      if (bytes[(int) at] == 0 && bytes[(int) at + 1] == 0) {
        throw new DataFormatException("a match repeats bytes from no distance");
      }
      at += 2;
      if ((token & LONG) == LONG) {
        while (at < end && bytes[(int) at] == -1) {
          at++;
        }
        at++;
      }
    }
  }
}
