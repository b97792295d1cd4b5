package io.zrecord.read;

import org.jspecify.annotations.Nullable;

/**
 * The blocks in which the values of a field are compressed together, as they are stored. Belongs to
 * one thread.
 */
public interface StoredBlocks {

  /**
   * Returns the block that begins with a record, verified, but not decoded. The block is valid
   * until the next call.
   *
   * @return null if no block begins with the record
   * @throws IndexOutOfBoundsException if there is no such record
   */
  @Nullable
  StoredBlock beginningAt(long index);

  /**
   * A block.
   *
   * @param bytes array with the stored bytes, from its beginning on
   * @param storedBytes number of the stored bytes
   * @param rawBytes number of the bytes before they were compressed
   * @param count number of values, absent ones included
   * @param flags how the block was encoded (FORMAT.md section 5)
   * @param blockBytes most raw bytes of a block of several values in that shard
   */
  record StoredBlock(
      byte[] bytes, int storedBytes, int rawBytes, int count, int flags, int blockBytes) {}
}
