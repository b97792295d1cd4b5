package io.zrecord.feed;

/**
 * How values of differing lengths stand in a batch. Lengths count steps of the first dimension:
 * elements of a {@code [-1]} tensor, rows of a {@code [-1, 3]} one, bytes of {@code bytes} and
 * {@code utf8}. Values of a fixed shape are always stacked. Immutable.
 *
 * @param kind what is done
 * @param steps the length of every value for {@link Kind#PAD_TO} and {@link Kind#CUT_OR_PAD_TO},
 *     else 0
 * @param fill what the gaps hold: the nearest number that the elements' type can hold
 */
public record Collation(Kind kind, int steps, double fill) {
  private static final int MAX_STEPS = 1 << 30;

  /** Ways to collate. */
  public enum Kind {
    /** One after the other without gaps; {@link FeedBatch#ends} says where each ends. */
    RAGGED,
    /** All as long as the longest of the batch. */
    PAD_TO_LONGEST,
    /** All of one length; a longer value is a bad record. */
    PAD_TO,
    /** All of one length; what is longer is cut. */
    CUT_OR_PAD_TO
  }

  public Collation {
    boolean hasSteps = kind == Kind.PAD_TO || kind == Kind.CUT_OR_PAD_TO;
    if (hasSteps ? steps < 1 || steps > MAX_STEPS : steps != 0) {
      throw new IllegalArgumentException("A collation " + kind + " to " + steps
          + " is not possible; give a length from 1 to " + MAX_STEPS + " for a fixed one, 0 else");
    }
  }

  /** One after the other; the default. */
  public static Collation ragged() {
    return new Collation(Kind.RAGGED, 0, 0);
  }

  /** With zeros behind the shorter ones. */
  public static Collation padToLongest() {
    return new Collation(Kind.PAD_TO_LONGEST, 0, 0);
  }

  /** With zeros behind the shorter ones; a longer one is a bad record. */
  public static Collation padTo(int steps) {
    return new Collation(Kind.PAD_TO, steps, 0);
  }

  /** With zeros behind the shorter ones, and the longer ones cut. */
  public static Collation cutOrPadTo(int steps) {
    return new Collation(Kind.CUT_OR_PAD_TO, steps, 0);
  }

  /** The same with another number in the gaps. */
  public Collation filledWith(double number) {
    return new Collation(kind, steps, number);
  }

  boolean isPadded() {
    return kind != Kind.RAGGED;
  }
}
