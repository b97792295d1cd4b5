package io.zrecord.sampler;

/** Cuts a request into runs. */
final class Runs {
  private Runs() {}

  /** Returns how many of {@code most} steps of {@code stride} begin within {@code room >= 1}. */
  static int within(long room, long stride, int most) {
    return (int) Math.min(most, (room - 1) / stride + 1);
  }
}
