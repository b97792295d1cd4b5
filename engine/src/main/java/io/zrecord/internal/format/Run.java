package io.zrecord.internal.format;

/**
 * A dense array of values of one field in a chunk (FORMAT.md section 5).
 *
 * @param firstIndex record of its first value
 * @param count values, > 0
 * @param offset position of its first byte in the chunk
 * @param chunkId the chunk
 * @param firstBlock number of the checksum of its first block
 */
public record Run(long firstIndex, long count, long offset, int chunkId, long firstBlock) {
  /** Bytes that one checksum covers. */
  public static final int BLOCK_BYTES = 1 << 16;

  /** Number of blocks that {@code bytes} bytes are divided into. */
  public static long blockCount(long bytes) {
    return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;
  }
}
