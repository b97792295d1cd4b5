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
}
