package io.zrecord.feed;

import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Brings values of differing lengths to one. Belongs to its block. */
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
    int elementBytes = field.type().widthBytes().orElse(1);
    this.stepBytes = field.shape().isScalar()
        ? elementBytes
        : Math.max(1, elementBytes * field.shape().elementsPerStep());
    this.pattern = collation.fill() == 0 ? ZEROS : pattern(elementBytes);
  }

  /** @throws IllegalArgumentException if values of a field cannot be padded so */
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
        case F16, BF16, BOOL, DECIMAL, UTF8 ->
          throw new IllegalArgumentException("Cannot fill gaps of field '" + field.name()
              + "' of type " + field.type() + " with " + fill + "; only 0 is possible");
        default -> putWhole(elements, elementBytes, (long) fill);
      }
    }
    return elements.flip();
  }

  private static void putWhole(ByteBuffer elements, int elementBytes, long fill) {
    switch (elementBytes) {
      case 1 -> elements.put((byte) fill);
      case 2 -> elements.putShort((short) fill);
      case 4 -> elements.putInt((int) fill);
      default -> elements.putLong(fill);
    }
  }

  void pad(FieldBlock values) {
    count = values.count();
    steps = collation.kind() == Collation.Kind.PAD_TO_LONGEST ? longest(values) : collation.steps();
    long bytes = (long) count * steps * stepBytes;
    if (bytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("Cannot pad " + count + " values of field '"
          + field.name() + "' to " + steps + " steps: they would have " + bytes
          + " bytes, and a buffer has at most " + Integer.MAX_VALUE
          + "; make batches smaller, or cut values");
    }
    ByteBuffer room = target.room((int) bytes);
    ByteBuffer source = values.values();
    for (int i = 0; i < count; i++) {
      int length = values.end(i) - values.start(i);
      if (length > rowBytes() && collation.kind() != Collation.Kind.CUT_OR_PAD_TO) {
        throw new UnfitValueException(
            i,
            field.name(),
            "it has " + length / stepBytes + " steps, and values are padded to " + steps
                + "; pad to more, or cut what is longer");
      }
      int kept = Math.min(length, rowBytes());
      room.put(start(i), source, values.start(i), kept);
      fill(room, start(i) + kept, rowBytes() - kept);
    }
  }

  private int longest(FieldBlock values) {
    int longest = 0;
    for (int i = 0; i < values.count(); i++) {
      longest = Math.max(longest, values.end(i) - values.start(i));
    }
    return longest / stepBytes;
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
    return target.view(count * rowBytes());
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
