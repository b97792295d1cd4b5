package io.zrecord.sampler;

/** Gives a run of positions of another order. Immutable. */
final class SliceSampler extends Sampler {
  private final Sampler base;
  private final long first;
  private final long length;

  SliceSampler(Sampler base, long first, long length) {
    this.base = base;
    this.first = first;
    this.length = length;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public long bound() {
    return base.bound();
  }

  @Override
  public long endOfPart(long epoch, long position) {
    return Math.min(length, base.endOfPart(epoch, first + position) - first);
  }

  @Override
  protected void fill(long epoch, long position, long stride, long[] target, int from, int count) {
    base.fill(epoch, Math.addExact(first, position), stride, target, from, count);
  }

  @Override
  public String toString() {
    return base + ".slice(" + first + ", " + length + ")";
  }
}
