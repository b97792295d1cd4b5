package io.zrecord.feed;

import java.nio.ByteBuffer;
import java.util.List;

/** Takes the values that a {@link RecordTransform} makes of one record: each output field once. Valid during its call. */
public final class RecordOutput {
  private final List<FieldBlock> blocks;
  private int ordinal;

  RecordOutput(List<FieldBlock> blocks) {
    this.blocks = blocks;
  }

  void moveTo(int newOrdinal) {
    ordinal = newOrdinal;
  }

  /**
   * Room for the value of a field of fixed width: zeros, little-endian, exactly as many as it has. What is written to it is the value.
   *
   * @throws IllegalArgumentException if there is no such output, or its values differ in length
   */
  public ByteBuffer value(String field) {
    FieldBlock block = FieldBlock.named(blocks, field);
    int width = block.field().valueWidthBytes().orElse(-1);
    if (width < 0) {
      throw new IllegalArgumentException("Values of output field '" + field
          + "' differ in length; call value(field, lengthBytes) with the length of this one");
    }
    return block.append(ordinal, width);
  }

  /**
   * Room for a value of that many bytes.
   *
   * @throws IllegalArgumentException if there is no such output, or its values have another length
   */
  public ByteBuffer value(String field, int lengthBytes) {
    FieldBlock block = FieldBlock.named(blocks, field);
    int width = block.field().valueWidthBytes().orElse(lengthBytes);
    int step = Padding.stepBytes(block.field());
    if (lengthBytes != width || lengthBytes < 0 || lengthBytes % step != 0) {
      throw new IllegalArgumentException("Cannot make a value of " + lengthBytes
          + " bytes in output field '" + field + "' of " + block.field().type()
          + block.field().shape() + "; its values have "
          + (width == lengthBytes ? "a multiple of " + step : "" + width) + " bytes");
    }
    return block.append(ordinal, lengthBytes);
  }

  /** Takes a copy of the bytes that remain in a buffer. */
  public void put(String field, ByteBuffer value) {
    value(field, value.remaining()).put(value.duplicate());
  }

  /** Leaves the record without a value in the field. */
  public void absent(String field) {
    FieldBlock.named(blocks, field).appendAbsent(ordinal);
  }

  /** Throws if an output field has got no value. */
  void requireComplete() {
    for (FieldBlock block : blocks) {
      if (block.count() != ordinal + 1) {
        throw new IllegalStateException("The transform gave no value to output field '"
            + block.field().name() + "'; give it one, or call absent");
      }
    }
  }

  /** Gives the record absent values only, whatever a failed transform gave it. */
  void fillAbsent() {
    for (FieldBlock block : blocks) {
      block.cutTo(ordinal);
      block.appendAbsent(ordinal);
    }
  }
}
