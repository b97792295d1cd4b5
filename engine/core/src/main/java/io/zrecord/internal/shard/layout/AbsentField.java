package io.zrecord.internal.shard.layout;

/** A field that the shard lacks: absent in all its records. */
public record AbsentField() implements OpenField {
  @Override
  public int chunkCount() {
    return 0;
  }

  @Override
  public int shardChunk(int ordinal) {
    throw new IndexOutOfBoundsException(ordinal);
  }
}
