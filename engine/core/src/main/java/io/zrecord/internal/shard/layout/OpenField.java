package io.zrecord.internal.shard.layout;

/** A field of an open shard: knows where values are and which values were verified. Thread-safe. */
public sealed interface OpenField
    permits StoredField, FixedRuns, BlockField, AbsentField, PromotedField {
  /** Returns the number of the chunks that values of the field may be in. */
  int chunkCount();

  /** Returns the ordinal in the shard of a chunk of the field. */
  int shardChunk(int ordinal);

  /**
   * Returns the position in a chunk up to which values of the field follow a byte without a gap.
   *
   * @param chunkOrdinal ordinal of the chunk among those of the field
   */
  default long endBytes(int chunkOrdinal, long position) {
    return position;
  }
}
