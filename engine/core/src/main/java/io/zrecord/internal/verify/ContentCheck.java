package io.zrecord.internal.verify;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.values.ValueLengths;
import io.zrecord.nested.NestedView;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.NestedType;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** Checks that decoded bytes are a value of a field. Thread-safe. */
final class ContentCheck {
  private final FieldSpec field;
  private final @Nullable NestedView nested;

  ContentCheck(FieldSpec field) {
    this.field = field;
    NestedType tree = field.type().tree();
    this.nested = tree == null ? null : new NestedView(tree);
  }

  /** Returns whether a value is more than its length: its bytes have to be read. */
  boolean needsBytes() {
    return nested != null;
  }

  /**
   * Returns what is wrong with a value; null if nothing is.
   *
   * @param bytes holds the value, unless {@link #needsBytes} is false
   */
  @Nullable
  String problem(byte[] bytes, int start, int length) {
    if (nested != null) {
      try {
        nested.read("field '" + field.name() + "'", ByteBuffer.wrap(bytes, start, length));
      } catch (CorruptDataException e) {
        return String.valueOf(e.getMessage());
      }
    }
    return ValueLengths.fits(field, length)
        ? null
        : "it has " + length + " bytes, which no value of type " + field.type()
            + (field.shape().isScalar() ? "" : " and shape " + field.shape()) + " has";
  }
}
