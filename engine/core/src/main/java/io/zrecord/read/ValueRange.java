package io.zrecord.read;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A range of values, both ends included. Absent values are in no range but {@link Presence#ABSENT}.
 * Immutable.
 */
public sealed interface ValueRange extends Serializable {

  /** A range by presence alone, for fields of every type. */
  enum Presence implements ValueRange {
    /** No value. */
    ABSENT,
    /** Any value. */
    PRESENT
  }

  /**
   * A range of integers, dates (days since 1970) or timestamps (microseconds).
   *
   * @param least the least; {@link Long#MIN_VALUE}: no bound
   * @param most the greatest; {@link Long#MAX_VALUE}: no bound, also for integers without a sign
   */
  record Integers(long least, long most) implements ValueRange {}

  /**
   * A range of numbers with a fraction. NaN is greater than every other number, as in
   * {@link Double#compare}; the two zeros are one number.
   */
  record Fractions(double least, double most) implements ValueRange {}

  /**
   * A range of texts, by their bytes in UTF-8.
   *
   * @param most null: no bound
   */
  record Texts(String least, @Nullable String most) implements ValueRange {
    public Texts {
      requireText(least);
      if (most != null) {
        requireText(most);
      }
    }

    private static void requireText(String text) {
      Objects.requireNonNull(text);
      if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
        throw new IllegalArgumentException("A bound is no text: it has half a surrogate pair");
      }
    }
  }
}
