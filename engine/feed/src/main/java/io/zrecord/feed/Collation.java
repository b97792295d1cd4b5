package io.zrecord.feed;

/**
 * Says how values of differing lengths lie in a batch. Lengths count steps of the first dimension:
 * elements of a {@code [-1]} tensor, rows of a {@code [-1, 3]} tensor, bytes of {@code bytes} and
 * {@code utf8}. Values of a fixed shape are always stacked. Immutable.
 *
 * @param kind how values are brought together
 * @param steps the length of every value for {@link Kind#PAD_TO} and {@link Kind#CUT_OR_PAD_TO},
 *     else 0
 * @param fill what the gaps hold: the nearest number that the type of the elements can hold
 */
public record Collation(Kind kind, int steps, double fill) {
  private static final int MAX_STEPS = 1 << 30;

  /** Lists the ways to collate. */
  public enum Kind {
    /**
     * Puts values one after the other without gaps; {@link FeedBatch#ends} says where each ends.
     */
    RAGGED,
    /** Pads all values to the length of the longest value of the batch. */
    PAD_TO_LONGEST,
    /** Pads all values to one length; the record of a longer value is bad. */
    PAD_TO,
    /** Pads all values to one length; cuts longer values. */
    CUT_OR_PAD_TO
  }

  public Collation {
    boolean hasSteps = kind == Kind.PAD_TO || kind == Kind.CUT_OR_PAD_TO;
    if (hasSteps ? steps < 1 || steps > MAX_STEPS : steps != 0) {
      throw new IllegalArgumentException("A collation " + kind + " to " + steps
          + " is not possible; give a length from 1 to " + MAX_STEPS + " for a fixed one, 0 else");
    }
  }

  /** Puts values one after the other; the default. */
  public static Collation ragged() {
    return new Collation(Kind.RAGGED, 0, 0);
  }

  /** Adds zeros after shorter values, up to the length of the longest. */
  public static Collation padToLongest() {
    return new Collation(Kind.PAD_TO_LONGEST, 0, 0);
  }

  /** Adds zeros after shorter values, up to {@code steps}; the record of a longer value is bad. */
  public static Collation padTo(int steps) {
    return new Collation(Kind.PAD_TO, steps, 0);
  }

  /** Adds zeros after shorter values, up to {@code steps}; cuts longer values. */
  public static Collation cutOrPadTo(int steps) {
    return new Collation(Kind.CUT_OR_PAD_TO, steps, 0);
  }

  /** Returns this collation with another number in the gaps. */
  public Collation filledWith(double number) {
    return new Collation(kind, steps, number);
  }

  boolean isPadded() {
    return kind != Kind.RAGGED;
  }
}
