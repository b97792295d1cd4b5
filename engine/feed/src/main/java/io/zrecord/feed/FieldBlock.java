package io.zrecord.feed;

import io.zrecord.read.FieldReader;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Holds the values of one field in one batch, one after the other in direct memory. Values of a
 * fixed width are stacked, absent values as zeros. Other values follow each other without gaps, or
 * are padded when all of them are there. A block belongs to the holder of its slot.
 */
final class FieldBlock {
  private final FieldSpec field;
  private final int width;
  private final BatchBuffer buffer;
  private final @Nullable Padding padding;
  private int[] ends = new int[0];
  private boolean[] absent = new boolean[0];
  private int count;
  private boolean hasAbsent;

  /**
   * @param delivered what the consumer sees; values to be padded are kept in a buffer of their own
   */
  FieldBlock(FieldSpec field, Collation collation, BatchBuffer delivered) {
    this.field = field;
    this.width = field.valueWidthBytes().orElse(-1);
    this.padding = collation.isPadded() ? new Padding(field, collation, delivered) : null;
    this.buffer = padding == null ? delivered : new BatchBuffer(ByteBuffer::allocateDirect);
  }

  /** Returns the block of a field, of the few that a group has. */
  static FieldBlock named(List<FieldBlock> blocks, String name) {
    return blocks.get(place(blocks, name));
  }

  /** Returns the place of a field's block among those of a group. */
  static int place(List<FieldBlock> blocks, String name) {
    for (int i = 0; i < blocks.size(); i++) {
      if (blocks.get(i).field.name().equals(name)) {
        return i;
      }
    }
    throw new IllegalArgumentException("Field '" + name + "' is not there; there are "
        + blocks.stream().map(block -> block.field.name()).toList());
  }

  FieldSpec field() {
    return field;
  }

  /** Takes over the values that a reader has selected. */
  void load(FieldReader reader) {
    begin(reader.count());
    int bytes = requireRoom(reader.totalLengthBytes());
    hasAbsent = reader.hasAbsent();
    int end = 0;
    for (int i = 0; i < reader.count(); i++) {
      end += width >= 0 ? width : reader.lengthBytes(i);
      ends[i] = end;
    }
    for (int i = 0; i < reader.count(); i++) {
      absent[i] = hasAbsent && reader.isAbsent(i);
    }
    reader.copyAll(buffer.room(bytes));
    count = reader.count();
  }

  /** Drops the values, and makes room for this many others. */
  void begin(int maxCount) {
    count = 0;
    hasAbsent = false;
    if (ends.length < maxCount) {
      ends = new int[maxCount];
      absent = new boolean[maxCount];
    }
  }

  private int requireRoom(long bytes) {
    if (bytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("Cannot make a batch of field '" + field.name()
          + "': its values have " + bytes + " bytes, and a buffer has at most "
          + Integer.MAX_VALUE + "; make batches smaller");
    }
    return (int) bytes;
  }

  /** Appends a copy of the next value. */
  void append(int ordinal, ByteBuffer source, int from, int lengthBytes) {
    grow(ordinal, lengthBytes).put(lengthBytes(), source, from, lengthBytes);
    end(ordinal, lengthBytes);
  }

  void appendAbsent(int ordinal) {
    int lengthBytes = Math.max(0, width);
    Padding.fillZero(grow(ordinal, lengthBytes).slice(lengthBytes(), lengthBytes));
    end(ordinal, lengthBytes);
    absent[ordinal] = true;
    hasAbsent = true;
  }

  private ByteBuffer grow(int ordinal, int lengthBytes) {
    requireNext(ordinal);
    int start = lengthBytes();
    return buffer.grow(start, requireRoom((long) start + lengthBytes));
  }

  private void end(int ordinal, int lengthBytes) {
    ends[ordinal] = lengthBytes() + lengthBytes;
    absent[ordinal] = false;
    count++;
  }

  void requireNext(int ordinal) {
    if (count != ordinal) {
      throw hasValueAlready();
    }
  }

  IllegalStateException hasValueAlready() {
    return new IllegalStateException(
        "Output field '" + field.name() + "' has got a value for this record already");
  }

  /** Drops all values except the first {@code newCount}. */
  void cutTo(int newCount) {
    count = Math.min(count, newCount);
  }

  /** Pads the values, all of which are there; reports those that do not fit the collation. */
  void finish(RecordFailures bad) {
    if (padding != null) {
      padding.pad(values(), ends, count, bad);
    }
  }

  /** Returns what the consumer sees. */
  ByteBuffer delivered() {
    return padding == null ? values() : padding.view();
  }

  /** Returns the memory that {@link #delivered} begins with. */
  ByteBuffer allocated() {
    return padding == null ? buffer.allocated() : padding.allocated();
  }

  int deliveredBytes() {
    return padding == null ? lengthBytes() : padding.lengthBytes();
  }

  /** Returns the bytes of memory in use. */
  long usedBytes() {
    return padding == null ? lengthBytes() : (long) lengthBytes() + padding.lengthBytes();
  }

  /** Returns a value as it is delivered, without padding. */
  ByteBuffer deliveredValue(int i) {
    int bytes = deliveredLengthBytes(i);
    return padding == null ? buffer.slice(start(i), bytes) : padding.slice(i, bytes);
  }

  /** Returns a value without padding. */
  ByteBuffer value(int i) {
    return buffer.slice(start(i), end(i) - start(i));
  }

  /** Lets go of memory that only padding needs. */
  void trim() {
    if (padding != null) {
      buffer.drop();
    }
  }

  /** Returns the values without padding. */
  ByteBuffer values() {
    return buffer.view(lengthBytes());
  }

  /** Returns the dimensions of what is delivered, the records first; -1 where they differ. */
  int[] dimensions() {
    List<Integer> shape = field.shape().dimensions();
    boolean isBytes = field.type().widthBytes().isEmpty();
    int[] dimensions = new int[1 + shape.size() + (isBytes ? 1 : 0)];
    dimensions[0] = count;
    for (int i = 0; i < shape.size(); i++) {
      dimensions[1 + i] = shape.get(i);
    }
    if (isBytes) {
      dimensions[1] = -1;
    }
    if (padding != null) {
      dimensions[1] = padding.steps();
    }
    return dimensions;
  }

  boolean isPadded() {
    return padding != null;
  }

  int deliveredLengthBytes(int i) {
    int length = end(i) - start(i);
    return padding == null ? length : Math.min(length, padding.rowBytes());
  }

  int[] copyOfEnds() {
    return Arrays.copyOf(ends, count);
  }

  int start(int i) {
    return i == 0 ? 0 : ends[i - 1];
  }

  int end(int i) {
    return ends[i];
  }

  boolean isAbsent(int i) {
    return absent[i];
  }

  boolean hasAbsent() {
    return hasAbsent;
  }

  int count() {
    return count;
  }

  int lengthBytes() {
    return count == 0 ? 0 : ends[count - 1];
  }
}
