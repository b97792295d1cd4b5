package io.zrecord.sampler;

/**
 * Checks the arguments of samplers. Messages name the argument, its value, the range and a remedy.
 */
final class Checks {
  /** Length of the longest index space: 2⁶². */
  static final long MAX_LENGTH = 1L << 62;

  private Checks() {}

  /** Returns the value if it is in {@code [least, most]}; throws otherwise. */
  static long inRange(String name, long value, long least, long most, String remedy) {
    if (value < least || value > most) {
      throw new IllegalArgumentException("Cannot sample: " + name + " is " + value
          + ", which is not in [" + least + ", " + most + "]; " + remedy);
    }
    return value;
  }

  /** Returns the value if it is a length of an index space; throws otherwise. */
  static long length(String name, long value) {
    return inRange(name, value, 0, MAX_LENGTH, "give the number of records");
  }
}
