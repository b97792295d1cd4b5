package io.zrecord.internal.codec;

import java.util.zip.DataFormatException;

/**
 * Requires that a payload is one Zstandard frame (RFC 8878 section 3.1.1): no skippable frame, no
 * second frame, no dictionary, and a window of at most 128 MiB. The library would accept others,
 * and a reader made with another library might not.
 */
final class ZstandardFrame {
  private static final int MAGIC = 0xFD2FB528;
  private static final long MAX_WINDOW_BYTES = 1L << 27;
  private static final int BLOCK_HEADER_BYTES = 3;
  private static final int BLOCK_RLE = 1;

  private ZstandardFrame() {}

  /**
   * Checks a payload. Does not decode it, so the frame may still be damaged.
   *
   * @throws DataFormatException if the payload is not one frame that readers accept
   */
  static void require(byte[] bytes, int offset, int length) throws DataFormatException {
    long end = (long) offset + length;
    require(length >= 6 && littleEndian(bytes, offset, 4) == MAGIC, "it is no Zstandard frame");
    int descriptor = bytes[offset + 4] & 0xff;
    boolean isSingleSegment = (descriptor & 0x20) != 0;
    boolean hasChecksum = (descriptor & 4) != 0;
    require((descriptor & 3) == 0, "it needs a dictionary");
    int sizeFlag = descriptor >>> 6;
    int sizeBytes = sizeFlag == 0 ? (isSingleSegment ? 1 : 0) : 1 << sizeFlag;
    if (!isSingleSegment) {
      int window = bytes[offset + 5] & 0xff;
      long base = 1L << (10 + (window >>> 3));
      require(
          base + (base >>> 3) * (window & 7) <= MAX_WINDOW_BYTES,
          "its window is longer than " + MAX_WINDOW_BYTES + " bytes");
    }
    long at = offset + 5L + (isSingleSegment ? 0 : 1) + sizeBytes;
    boolean isLast = false;
    while (!isLast) {
      require(at + BLOCK_HEADER_BYTES <= end, "its frame is cut");
      int header = littleEndian(bytes, (int) at, BLOCK_HEADER_BYTES);
      isLast = (header & 1) != 0;
      int size = (header >>> 1 & 3) == BLOCK_RLE ? 1 : header >>> 3;
      at += BLOCK_HEADER_BYTES + size;
    }
    at += hasChecksum ? 4 : 0;
    require(at == end, "it does not end where its frame ends");
  }

  private static int littleEndian(byte[] bytes, int at, int count) {
    int value = 0;
    for (int i = 0; i < count; i++) {
      value |= (bytes[at + i] & 0xff) << (8 * i);
    }
    return value;
  }

  private static void require(boolean holds, String problem) throws DataFormatException {
    if (!holds) {
      throw new DataFormatException(problem);
    }
  }
}
