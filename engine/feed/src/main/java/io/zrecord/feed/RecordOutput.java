package io.zrecord.feed;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * Takes the values that a {@link RecordTransform} makes of one record: each output field once. An
 * output is valid during the call of the transform; afterwards every method throws
 * {@link IllegalStateException}.
 *
 * <p>Design note: {@link #value} gives memory of the loader and not of the batch, and the value is
 * copied when the call is over. A Java buffer cannot be revoked, and a buffer that a transform
 * keeps must not change a batch that the consumer has.
 */
public final class RecordOutput {
  private static final int NONE = -1;

  private final ByteBuffer[] rooms;
  /** Lengths of the values that are being written to rooms; {@code NONE} where there is none. */
  private final int[] lengths;

  private List<FieldBlock> blocks = List.of();
  private int ordinal;
  private boolean isOpen;

  RecordOutput(int fieldCount) {
    rooms = new ByteBuffer[fieldCount];
    Arrays.fill(rooms, ByteBuffer.allocateDirect(0));
    lengths = new int[fieldCount];
  }

  /** Starts a record. */
  void open(List<FieldBlock> newBlocks, int newOrdinal) {
    blocks = newBlocks;
    ordinal = newOrdinal;
    Arrays.fill(lengths, NONE);
    isOpen = true;
  }

  /**
   * Makes room for the value of a field of fixed width: a little-endian buffer of zeros, exactly as
   * long as the value. The content of the buffer at the end of the call is the value. If the bytes
   * exist already, {@link #put} saves a copy.
   *
   * @throws IllegalArgumentException if there is no such output, or its values differ in length
   */
  public ByteBuffer value(String field) {
    int place = place(field);
    int width = blocks.get(place).field().valueWidthBytes().orElse(-1);
    if (width < 0) {
      throw new IllegalArgumentException("Values of output field '" + field
          + "' differ in length; call value(field, lengthBytes) with the length of this one");
    }
    return room(place, width);
  }

  /**
   * Makes room for a value of {@code lengthBytes} bytes, as {@link #value(String)} does.
   *
   * @throws IllegalArgumentException if there is no such output, or its values have another length
   */
  public ByteBuffer value(String field, int lengthBytes) {
    int place = place(field);
    requirePossible(blocks.get(place), lengthBytes);
    return room(place, lengthBytes);
  }

  /**
   * Copies the bytes that remain in a buffer, whose position stays.
   *
   * @throws IllegalArgumentException if there is no such output, or its values have another length
   */
  public void put(String field, ByteBuffer value) {
    int place = place(field);
    requirePossible(blocks.get(place), value.remaining());
    requireNone(place);
    blocks.get(place).append(ordinal, value, value.position(), value.remaining());
  }

  /** Leaves the record without a value in the field. */
  public void absent(String field) {
    int place = place(field);
    requireNone(place);
    blocks.get(place).appendAbsent(ordinal);
  }

  private int place(String field) {
    if (!isOpen) {
      throw new IllegalStateException("Cannot give a value to output field '" + field
          + "': the call of the transform is over; give every value during the call");
    }
    return FieldBlock.place(blocks, field);
  }

  private static void requirePossible(FieldBlock block, int lengthBytes) {
    int width = block.field().valueWidthBytes().orElse(lengthBytes);
    int step = Padding.stepBytes(block.field());
    if (lengthBytes != width || lengthBytes < 0 || lengthBytes % step != 0) {
      throw new IllegalArgumentException("Cannot make a value of " + lengthBytes
          + " bytes in output field '" + block.field().name() + "' of "
          + block.field().type()
          + block.field().shape() + "; its values have "
          + (width == lengthBytes ? "a multiple of " + step : "" + width) + " bytes");
    }
  }

  private void requireNone(int place) {
    if (lengths[place] != NONE) {
      throw blocks.get(place).hasValueAlready();
    }
    blocks.get(place).requireNext(ordinal);
  }

  private ByteBuffer room(int place, int lengthBytes) {
    requireNone(place);
    if (rooms[place].capacity() < lengthBytes) {
      rooms[place] = ByteBuffer.allocateDirect(
          (int) Math.min(Integer.MAX_VALUE, lengthBytes + (long) (lengthBytes >> 1)));
    }
    lengths[place] = lengthBytes;
    ByteBuffer room = rooms[place].slice(0, lengthBytes);
    Padding.fillZero(room);
    return room.order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Takes over the values; throws {@link IllegalStateException} if an output field has none. */
  void complete() {
    end();
    for (int i = 0; i < lengths.length; i++) {
      FieldBlock block = blocks.get(i);
      if (lengths[i] != NONE) {
        block.append(ordinal, rooms[i], 0, lengths[i]);
      } else if (block.count() != ordinal + 1) {
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

  /** Refuses values until the next record starts. */
  void end() {
    isOpen = false;
  }
}
