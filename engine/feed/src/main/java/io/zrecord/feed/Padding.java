package io.zrecord.feed;

import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Pads values of differing lengths to one length. Belongs to its block. */
final class Padding {
  private static final int PATTERN_BYTES = 4096;
  private static final ByteBuffer ZEROS =
      ByteBuffer.allocateDirect(PATTERN_BYTES).asReadOnlyBuffer();

  private final FieldSpec field;
  private final Collation collation;
  private final BatchBuffer target;
  private final int stepBytes;
  private final ByteBuffer pattern;
  private int steps;
  private int count;

  Padding(FieldSpec field, Collation collation, BatchBuffer target) {
    this.field = field;
    this.collation = collation;
    this.target = target;
    this.stepBytes = stepBytes(field);
    this.pattern =
        collation.fill() == 0 ? ZEROS : pattern(field.type().widthBytes().orElse(1));
  }

  /** @throws IllegalArgumentException if the collation cannot pad values of the field */
  static void requirePossible(FieldSpec field, Collation collation) {
    Padding padding = new Padding(field, collation, new BatchBuffer(ByteBuffer::allocateDirect));
    if ((long) collation.steps() * padding.stepBytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("Cannot pad field '" + field.name() + "' to "
          + collation.steps() + " steps of " + padding.stepBytes
          + " bytes: a value has at most " + Integer.MAX_VALUE + "; pad to less");
    }
  }

  private ByteBuffer pattern(int elementBytes) {
    ByteBuffer elements = ByteBuffer.allocateDirect(PATTERN_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    double fill = collation.fill();
    while (elements.hasRemaining()) {
      switch (field.type().kind()) {
        case F32 -> elements.putFloat((float) fill);
        case F64 -> elements.putDouble(fill);
        case F16, BF16, BOOL, DECIMAL, UTF8, BYTES ->
          throw new IllegalArgumentException("Cannot fill gaps of field '" + field.name()
              + "' of type " + field.type() + " with " + fill + "; only 0 is possible");
        case U8 -> elements.put((byte) within(fill, 0, 0xff));
        case U16 -> elements.putShort((short) within(fill, 0, 0xffff));
        case U32 -> elements.putInt((int) within(fill, 0, 0xffff_ffffL));
        case U64 -> elements.putLong(within(fill, 0, Long.MAX_VALUE));
        default -> putWhole(elements, elementBytes, fill);
      }
    }
    return elements.flip();
  }

  private static void putWhole(ByteBuffer elements, int elementBytes, double fill) {
    switch (elementBytes) {
      case 1 -> elements.put((byte) within(fill, Byte.MIN_VALUE, Byte.MAX_VALUE));
      case 2 -> elements.putShort((short) within(fill, Short.MIN_VALUE, Short.MAX_VALUE));
      case 4 -> elements.putInt((int) within(fill, Integer.MIN_VALUE, Integer.MAX_VALUE));
      default -> elements.putLong((long) fill);
    }
  }

  private static long within(double fill, long lowest, long highest) {
    return Math.max(lowest, Math.min(highest, (long) fill));
  }

  /**
   * Pads all values to one length, or cuts them to it; reports the values that do not fit.
   *
   * @param source the values, one after the other
   * @param ends where each value ends in {@code source}
   */
  void pad(ByteBuffer source, int[] ends, int valueCount, RecordFailures bad) {
    count = valueCount;
    int longest = longest(ends);
    int longestSteps = count == 0 ? 0 : lengthBytes(ends, longest) / stepBytes;
    steps = collation.kind() == Collation.Kind.PAD_TO_LONGEST ? longestSteps : collation.steps();
    long bytes = (long) count * steps * stepBytes;
    if (bytes > Integer.MAX_VALUE) {
      String reason = "values of this batch would be padded to " + steps + " steps, " + bytes
          + " bytes, and a buffer has at most " + Integer.MAX_VALUE
          + "; make batches smaller, or cut values";
      bad.add(longest, field.name(), new IllegalArgumentException(reason));
      count = 0;
      return;
    }
    ByteBuffer room = target.room((int) bytes);
    for (int i = 0; i < count; i++) {
      int length = lengthBytes(ends, i);
      if (length > rowBytes() && collation.kind() != Collation.Kind.CUT_OR_PAD_TO) {
        String reason = "it has " + length / stepBytes + " steps, and values are padded to " + steps
            + "; pad to more, or cut what is longer";
        bad.add(i, field.name(), new IllegalArgumentException(reason));
      }
      int kept = Math.min(length, rowBytes());
      room.put(start(i), source, sourceStart(ends, i), kept);
      fill(room, start(i) + kept, rowBytes() - kept);
    }
  }

  private static int sourceStart(int[] ends, int i) {
    return i == 0 ? 0 : ends[i - 1];
  }

  private static int lengthBytes(int[] ends, int i) {
    return ends[i] - sourceStart(ends, i);
  }

  /** Returns which value is the longest. */
  private int longest(int[] ends) {
    int longest = 0;
    for (int i = 1; i < count; i++) {
      if (lengthBytes(ends, i) > lengthBytes(ends, longest)) {
        longest = i;
      }
    }
    return longest;
  }

  private void fill(ByteBuffer room, int from, int bytes) {
    for (int done = 0; done < bytes; done += PATTERN_BYTES) {
      room.put(from + done, pattern, 0, Math.min(PATTERN_BYTES, bytes - done));
    }
  }

  static void fillZero(ByteBuffer room) {
    for (int done = 0; done < room.capacity(); done += PATTERN_BYTES) {
      room.put(done, ZEROS, 0, Math.min(PATTERN_BYTES, room.capacity() - done));
    }
  }

  ByteBuffer allocated() {
    return target.allocated();
  }

  ByteBuffer view() {
    return target.view(lengthBytes());
  }

  int lengthBytes() {
    return count * rowBytes();
  }

  ByteBuffer slice(int i, int bytes) {
    return target.slice(start(i), bytes);
  }

  /** Returns the bytes of a step of a field's first dimension. */
  static int stepBytes(FieldSpec field) {
    int elementBytes = field.type().widthBytes().orElse(1);
    return field.shape().isScalar()
        ? elementBytes
        : Math.max(1, elementBytes * field.shape().elementsPerStep());
  }

  int steps() {
    return steps;
  }

  int rowBytes() {
    return steps * stepBytes;
  }

  int start(int i) {
    return i * rowBytes();
  }
}
