package io.zrecord.internal.store;

import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.schema.FieldSpec;

/** How long the values of a field may be. Stateless. */
public final class ValueLengths {
  private ValueLengths() {}

  /**
   * Checks the length of a value.
   *
   * @throws ValueTooLargeException if it does not fit the type and the shape of the field
   */
  public static void require(FieldSpec field, int lengthBytes) {
    if (!fits(field, lengthBytes)) {
      throw wrong(field, lengthBytes);
    }
  }

  /** Whether a value of that length fits the type and the shape of the field. */
  public static boolean fits(FieldSpec field, int lengthBytes) {
    return field.valueWidthBytes().isPresent()
        ? lengthBytes == field.valueWidthBytes().getAsInt()
        : areWholeSteps(field, lengthBytes);
  }

  /** Whether a value of any length consists of whole steps of the first dimension. */
  static boolean areWholeSteps(FieldSpec field, int lengthBytes) {
    long step = stepBytes(field);
    return step == 0 ? lengthBytes == 0 : lengthBytes % step == 0;
  }

  static ValueTooLargeException wrong(FieldSpec field, int lengthBytes) {
    String allowed = field.valueWidthBytes().isPresent()
        ? "exactly " + field.valueWidthBytes().getAsInt()
        : "a multiple of " + stepBytes(field);
    return new ValueTooLargeException(
        field.name(),
        "Cannot write a value of " + lengthBytes + " bytes to field '" + field.name()
            + "' of type " + field.type()
            + (field.shape().isScalar() ? "" : " and shape " + field.shape()) + ": it takes "
            + allowed
            + " bytes; check the shape of the data or write the field with another type or shape");
  }

  private static long stepBytes(FieldSpec field) {
    return (long) field.shape().elementsPerStep() * field.type().widthBytes().orElse(1);
  }
}
