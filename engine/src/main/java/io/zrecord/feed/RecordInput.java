package io.zrecord.feed;

import java.nio.ByteBuffer;
import java.util.List;

/** The stored values of one record, for a {@link RecordTransform}. Valid during its call. */
public final class RecordInput {
  private final List<FieldBlock> blocks;
  private int ordinal;
  private long index;

  RecordInput(List<FieldBlock> blocks) {
    this.blocks = blocks;
  }

  void moveTo(int newOrdinal, long newIndex) {
    ordinal = newOrdinal;
    index = newIndex;
  }

  /** Index of the record in the dataset. */
  public long index() {
    return index;
  }

  /** The value: read-only, little-endian; zeros if it is absent and has a fixed width, else empty. */
  public ByteBuffer value(String field) {
    return FieldBlock.named(blocks, field).value(ordinal);
  }

  /** Whether the record has no value in the field. */
  public boolean isAbsent(String field) {
    return FieldBlock.named(blocks, field).isAbsent(ordinal);
  }
}
