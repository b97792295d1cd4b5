package io.zrecord.internal.shard.search;

import io.zrecord.internal.format.ValueOrder;
import io.zrecord.read.ValueRange;
import io.zrecord.schema.FieldSpec;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * A range of keys of values (see {@link ValueOrder}), both ends included. Of a number the first
 * half of the key says all. NaN has the greatest key.
 */
record KeyRange(long leastHigh, long leastLow, long mostHigh, long mostLow) {
  /**
   * Translates a range of values of a field.
   *
   * @param order of the values of the field; null if they have none
   * @throws IllegalArgumentException if the values of the field are not ordered as those of a range
   */
  static KeyRange of(FieldSpec field, @Nullable ValueOrder order, ValueRange range) {
    if (order == ValueOrder.SIGNED && range instanceof ValueRange.Integers integers) {
      return ofHigh(ValueOrder.ofSigned(integers.least()), ValueOrder.ofSigned(integers.most()));
    }
    if (order == ValueOrder.UNSIGNED && range instanceof ValueRange.Integers integers) {
      return unsigned(integers);
    }
    if (order == ValueOrder.FLOATING && range instanceof ValueRange.Fractions fractions) {
      return ofHigh(leastKey(fractions.least()), mostKey(fractions.most()));
    }
    if (order == ValueOrder.TEXT && range instanceof ValueRange.Texts texts) {
      return texts(texts);
    }
    throw new IllegalArgumentException("Cannot look for " + range + " in field '" + field.name()
        + "' of type " + field.type() + field.shape()
        + ": give integers, fractions or texts for a single value of such a type");
  }

  private static KeyRange ofHigh(long least, long most) {
    return new KeyRange(least, 0, most, 0);
  }

  private static KeyRange unsigned(ValueRange.Integers range) {
    return range.most() < 0
        ? ofHigh(-1, 0) // Nothing is within.
        : ofHigh(Math.max(0, range.least()), range.most() == Long.MAX_VALUE ? -1 : range.most());
  }

  private static long leastKey(double value) {
    return Double.isNaN(value) ? -1 : ValueOrder.ofDouble(value == 0 ? -0.0 : value);
  }

  private static long mostKey(double value) {
    return Double.isNaN(value) ? -1 : ValueOrder.ofDouble(value == 0 ? 0.0 : value);
  }

  private static KeyRange texts(ValueRange.Texts range) {
    byte[] least = range.least().getBytes(StandardCharsets.UTF_8);
    long leastHigh = ValueOrder.highOf(least, 0, least.length);
    long leastLow = ValueOrder.lowOf(least, 0, least.length);
    String bound = range.most();
    if (bound == null) {
      return new KeyRange(leastHigh, leastLow, -1, -1);
    }
    byte[] most = bound.getBytes(StandardCharsets.UTF_8);
    return new KeyRange(
        leastHigh,
        leastLow,
        ValueOrder.highOf(most, 0, most.length),
        ValueOrder.lowOf(most, 0, most.length));
  }

  boolean isEmpty() {
    return ValueOrder.compare(leastHigh, leastLow, mostHigh, mostLow) > 0;
  }
}
