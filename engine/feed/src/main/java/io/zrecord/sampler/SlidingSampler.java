package io.zrecord.sampler;

import io.zrecord.internal.random.Wide;

/**
 * Slides a window over a circle of indices: window number {@code k} begins at {@code k·stride mod
 * length}, and no tail is cut. Endless, and equal in every epoch; {@link #onePass} ends. Immutable.
 */
public final class SlidingSampler extends Sampler {
  private final long circle;
  private final long window;
  private final long stride;

  SlidingSampler(long length, long window, long stride) {
    this.circle = Checks.length("length", length);
    this.window = Checks.inRange(
        "window", window, 1, Math.max(1, length), "a window is at most the whole circle");
    this.stride = Checks.inRange(
        "stride", stride, 1, Math.max(1, length), "larger strides skip records in every pass");
  }

  @Override
  public long length() {
    return circle == 0 ? 0 : ENDLESS;
  }

  @Override
  public long bound() {
    return circle;
  }

  /**
   * Returns the windows that begin within one turn of the circle. They cover every index if
   * {@code stride <= window}.
   */
  public Sampler onePass() {
    return circle == 0 ? this : take(Math.multiplyExact(window, (circle - 1) / stride + 1));
  }

  @Override
  protected void fill(long epoch, long position, long step, long[] target, int from, int count) {
    long next = position;
    for (int done = 0; done < count; ) {
      long slot = next % window;
      int run = Runs.within(window - slot, step, count - done);
      long start = (Wide.multiplyModulo(next / window % circle, stride, circle) + slot) % circle;
      for (int i = 0; i < run; i++) {
        long index = start + i * step;
        target[from + done + i] = index >= circle ? index - circle : index;
      }
      done += run;
      next += run * step;
    }
  }

  @Override
  public String toString() {
    return "sliding(" + circle + ", window " + window + ", stride " + stride + ")";
  }
}
