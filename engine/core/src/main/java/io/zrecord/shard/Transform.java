package io.zrecord.shard;

/** How numbers of a block are rearranged before a codec compresses them (FORMAT.md section 5). */
public enum Transform {
  /**
   * The transform that makes the first blocks of a field the shortest, tried again from time to
   * time.
   */
  AUTO,
  /** Values as they are. */
  NONE,
  /** The least significant bytes of all numbers, then the next more significant ones, and so on. */
  TRANSPOSE,
  /** Differences of neighbouring numbers, transposed. */
  DELTA
}
