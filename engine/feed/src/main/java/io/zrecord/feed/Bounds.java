package io.zrecord.feed;

/** Checks numbers that a feed is set up with. */
final class Bounds {
  private Bounds() {}

  /** Returns the value if it is from {@code lowest} to {@code highest}. */
  static int within(String name, int value, int lowest, int highest) {
    if (value < lowest || value > highest) {
      throw new IllegalArgumentException(
          name + " is " + value + "; it must be from " + lowest + " to " + highest);
    }
    return value;
  }
}
