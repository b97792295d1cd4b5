package io.zrecord.internal.shard.layout;

import io.zrecord.internal.format.FieldTables;

/** A field that the shard has with a type which readers convert. */
public record PromotedField(FieldTables tables) implements OpenField {
  @Override
  public int chunkCount() {
    return 0;
  }

  @Override
  public int shardChunk(int ordinal) {
    throw new IndexOutOfBoundsException(ordinal);
  }
}
