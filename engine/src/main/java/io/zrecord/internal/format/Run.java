package io.zrecord.internal.format;

/**
 * A dense array of values of one field in a chunk (FORMAT.md section 5).
 *
 * @param firstIndex record of the first value
 * @param count number of values, > 0
 * @param offset position of the first byte in the chunk
 * @param chunkId the chunk
 * @param firstBlock number of the checksum of the first block
 */
public record Run(long firstIndex, long count, long offset, int chunkId, long firstBlock) {
  /** Bytes that one checksum covers. */
  public static final int BLOCK_BYTES = 1 << 16;

  /** Returns the number of blocks in {@code bytes} bytes. */
  public static long blockCount(long bytes) {
    return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
  }
}
