package io.zrecord.sampler;

/** Gives indices in order, forwards or backwards, equal in every epoch. Immutable. */
final class SequentialSampler extends Sampler {
  private final long first;
  private final long step;
  private final long length;

  SequentialSampler(long from, long to, long step) {
    Checks.length("from", from + (step < 0 ? 1 : 0));
    Checks.length("to", to + (step < 0 ? 1 : 0));
    if (step == 0 || step == Long.MIN_VALUE) {
      throw new IllegalArgumentException(
          "Cannot sample: step is " + step + "; give 1 for every index, -1 to go backwards");
    }
    this.first = from;
    this.step = step;
    long distance = step > 0 ? to - from : from - to;
    this.length = distance <= 0 ? 0 : (distance - 1) / Math.abs(step) + 1;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public long bound() {
    return length == 0 ? 0 : Math.max(first, first + (length - 1) * step) + 1;
  }

  @Override
  protected void fill(long epoch, long position, long stride, long[] target, int from, int count) {
    long start = first + position * step;
    for (int i = 0; i < count; i++) {
      target[from + i] = start + i * stride * step;
    }
  }

  @Override
  public String toString() {
    return "sequential(from " + first + ", step " + step + ", " + length + " positions)";
  }
}
