package io.zrecord.feed;

import java.nio.ByteBuffer;
import java.util.List;

/**
 * Gives the stored values of one record to a {@link RecordTransform}; valid during its call. An
 * input that the transform keeps shows the later records of the batch. A buffer that the transform
 * keeps cannot be written to, but shows other values when the memory of the batch is used again.
 */
public final class RecordInput {
  private final List<FieldBlock> blocks;
  private int ordinal;
  private long index;
  private boolean isOver;

  RecordInput(List<FieldBlock> blocks) {
    this.blocks = blocks;
  }

  void moveTo(int newOrdinal, long newIndex) {
    ordinal = newOrdinal;
    index = newIndex;
  }

  /** Ends the last record of the batch. */
  void end() {
    isOver = true;
  }

  /** Returns the index of the record in the dataset. */
  public long index() {
    return index;
  }

  /**
   * Returns the value: read-only, little-endian. An absent value of a fixed width is zeros; any
   * other absent value is empty.
   *
   * @throws IllegalArgumentException if the field is not read
   * @throws IllegalStateException after the call for the last record of the batch
   */
  public ByteBuffer value(String field) {
    return block(field).value(ordinal);
  }

  /** Returns whether the record has no value in the field. */
  public boolean isAbsent(String field) {
    return block(field).isAbsent(ordinal);
  }

  private FieldBlock block(String field) {
    if (isOver) {
      throw new IllegalStateException("Cannot read field '" + field
          + "': the call of the transform is over; read every value during the call");
    }
    return FieldBlock.named(blocks, field);
  }
}
