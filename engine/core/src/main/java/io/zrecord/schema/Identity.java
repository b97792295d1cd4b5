package io.zrecord.schema;

import java.io.Serializable;
import java.util.Optional;
import java.util.UUID;

/**
 * Declares that a table gives each record a number of its own in a field (FORMAT.md section 7.12).
 * A writer reserves a range of numbers by a commit before it writes records with them
 * ({@code RecordTable.reserve}), so no two writers have the same numbers. Numbers that were
 * reserved and not written are never given again. Immutable.
 *
 * @param fieldId number of the field: a single {@code i64} that is never absent, without a
 *     {@code write} default and without the text of a default
 * @param sequence names the series of numbers; a program that has reserved numbers of another
 *     series may not commit them
 * @param generation whether a record may bring a number of its own
 * @param start the first number
 * @param step what the next number is more than the one before; negative to go down, never 0
 * @param next the first number that nobody has reserved: {@code start}, or whole steps from it
 */
public record Identity(
    int fieldId, UUID sequence, Generation generation, long start, long step, long next)
    implements Serializable {

  /** Says whether a record may bring a number of its own. */
  public enum Generation {
    /** No record brings one, and no value is changed afterwards. */
    ALWAYS,
    /** A record may bring one, which nobody compares with the others. */
    BY_DEFAULT
  }

  public Identity {
    Declarations.requireId("An identity", fieldId);
    if (step == 0) {
      throw new IllegalArgumentException("The identity of field " + fieldId
          + " has a step of 0; use a step that is not 0, mostly 1");
    }
    boolean isBehind = step > 0 ? next < start : next > start;
    long gone = step > 0 ? next - start : start - next;
    if (isBehind || Long.remainderUnsigned(gone, Math.abs(step)) != 0) {
      throw new IllegalArgumentException("The identity of field " + fieldId + " goes on at " + next
          + ", which is not " + start + " and no number of steps of " + step + " from it");
    }
  }

  /** Makes the identity of a field whose values nobody may give. */
  public static Identity always(int fieldId, long start, long step) {
    return new Identity(fieldId, UUID.randomUUID(), Generation.ALWAYS, start, step, start);
  }

  /** Makes the identity of a field whose values a record may bring. */
  public static Identity byDefault(int fieldId, long start, long step) {
    return new Identity(fieldId, UUID.randomUUID(), Generation.BY_DEFAULT, start, step, start);
  }

  /** Returns why a field can have no identity; empty if it can. */
  public static Optional<String> obstacle(FieldSpec field) {
    if (!field.type().equals(ElementType.I64) || !field.shape().isScalar()) {
      return Optional.of("it is " + field.type()
          + (field.shape().isScalar() ? "" : field.shape().toString()) + ", not a single i64");
    }
    if (field.rules().isNullable()) {
      return Optional.of("its values may be absent");
    }
    return field.rules().writeHex() != null || field.rules().defaultSql() != null
        ? Optional.of("it has a default for records that say nothing of it")
        : Optional.empty();
  }

  /**
   * Returns how many numbers can be reserved yet, at most 2⁶³−1. The number after them must fit
   * into 64 bits as well.
   */
  public long remaining() {
    long distance = step > 0 ? Long.MAX_VALUE - next : next - Long.MIN_VALUE;
    long count = Long.divideUnsigned(distance, Math.abs(step));
    return count < 0 ? Long.MAX_VALUE : count;
  }

  /**
   * Returns this identity after some numbers were reserved.
   *
   * @throws ArithmeticException if fewer are left
   */
  public Identity reserved(long count) {
    if (count < 0 || count > remaining()) {
      throw new ArithmeticException(
          "Cannot reserve " + count + " numbers: " + remaining() + " are left");
    }
    return new Identity(fieldId, sequence, generation, start, step, next + count * step);
  }

  /** Returns the numbers that were reserved last. */
  public IdentityRange last(long count) {
    return new IdentityRange(fieldId, sequence, next - count * step, step, count);
  }

  /** Returns this identity as a new series that goes on where this one is. */
  public Identity renewed() {
    return new Identity(fieldId, UUID.randomUUID(), generation, start, step, next);
  }

  /** Tells whether another identity is of the same field and series. */
  public boolean isSameSeries(Identity other) {
    return fieldId == other.fieldId && sequence.equals(other.sequence);
  }

  /** Tells whether this is an earlier identity after maybe some numbers were reserved. */
  public boolean follows(Identity earlier) {
    return isSameSeries(earlier)
        && generation == earlier.generation
        && start == earlier.start
        && step == earlier.step
        && (step > 0 ? next >= earlier.next : next <= earlier.next);
  }
}
