package io.zrecord.sampler;

/** Gives one epoch of another order in every epoch. Immutable. */
final class FixedEpochSampler extends Sampler {
  private final Sampler base;
  private final long fixed;

  FixedEpochSampler(Sampler base, long epoch) {
    this.base = base;
    this.fixed = Checks.inRange("epoch", epoch, 0, Long.MAX_VALUE, "count epochs from 0");
  }

  @Override
  public long length() {
    return base.length();
  }

  @Override
  public long bound() {
    return base.bound();
  }

  @Override
  public long endOfPart(long epoch, long position) {
    return base.endOfPart(fixed, position);
  }

  @Override
  protected void fill(long epoch, long position, long stride, long[] target, int from, int count) {
    base.fill(fixed, position, stride, target, from, count);
  }

  @Override
  public String toString() {
    return base + ".withEpoch(" + fixed + ")";
  }
}
