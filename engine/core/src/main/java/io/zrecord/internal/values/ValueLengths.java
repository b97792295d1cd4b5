package io.zrecord.internal.values;

import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.schema.FieldSpec;

/** The allowed lengths of a field's values. Stateless. */
public final class ValueLengths {
  private ValueLengths() {}

  /**
   * Checks the length of a value.
   *
   * @throws ValueTooLargeException if the value is longer than the type and the shape allow
   * @throws IllegalArgumentException if the value is too short, or does not consist of whole steps
   */
  public static void require(FieldSpec field, int lengthBytes) {
    if (!fits(field, lengthBytes)) {
      throw wrong(field, lengthBytes);
    }
  }

  /** Tells whether a length fits the type and the shape of the field. */
  public static boolean fits(FieldSpec field, int lengthBytes) {
    return field.valueWidthBytes().isPresent()
        ? lengthBytes == field.valueWidthBytes().getAsInt()
        : areWholeSteps(field, lengthBytes);
  }

  /** Tells whether a value consists of whole steps of the first dimension, whatever its length. */
  public static boolean areWholeSteps(FieldSpec field, int lengthBytes) {
    long step = stepBytes(field);
    return step == 0 ? lengthBytes == 0 : lengthBytes % step == 0;
  }

  /** Returns the exception for a value whose length does not fit the field. */
  public static RuntimeException wrong(FieldSpec field, int lengthBytes) {
    String allowed = field.valueWidthBytes().isPresent()
        ? "exactly " + field.valueWidthBytes().getAsInt()
        : "a multiple of " + stepBytes(field);
    String message = "Cannot write a value of " + lengthBytes + " bytes to field '" + field.name()
        + "' of type " + field.type()
        + (field.shape().isScalar() ? "" : " and shape " + field.shape()) + ": it takes "
        + allowed
        + " bytes; check the shape of the data or write the field with another type or shape";
    return lengthBytes > field.valueWidthBytes().orElse(Integer.MAX_VALUE)
        ? new ValueTooLargeException(field.name(), message)
        : new IllegalArgumentException(message);
  }

  private static long stepBytes(FieldSpec field) {
    return (long) field.shape().elementsPerStep() * field.type().widthBytes().orElse(1);
  }
}
