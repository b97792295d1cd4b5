package io.zrecord.read;

/**
 * A block of values that are compressed together, as it is stored. Valid until the reader that
 * returned the block is used again.
 */
public final class StoredBlock {
  private final byte[] bytes;
  private final int storedBytes;
  private final int rawBytes;
  private final int count;
  private final int flags;
  private final int blockBytes;

  /**
   * Creates a block.
   *
   * @param bytes array with the stored bytes, from its beginning on
   * @param storedBytes number of the stored bytes
   * @param rawBytes number of the bytes before they were compressed
   * @param count number of values, absent ones included
   * @param flags how the block was encoded (FORMAT.md section 5)
   * @param blockBytes most raw bytes of a block of several values in that shard
   */
  public StoredBlock(
      byte[] bytes, int storedBytes, int rawBytes, int count, int flags, int blockBytes) {
    this.bytes = bytes;
    this.storedBytes = storedBytes;
    this.rawBytes = rawBytes;
    this.count = count;
    this.flags = flags;
    this.blockBytes = blockBytes;
  }

  /** Returns the array with the stored bytes, which is not copied. */
  public byte[] bytes() {
    return bytes;
  }

  public int storedBytes() {
    return storedBytes;
  }

  public int rawBytes() {
    return rawBytes;
  }

  public int count() {
    return count;
  }

  public int flags() {
    return flags;
  }

  public int blockBytes() {
    return blockBytes;
  }
}
