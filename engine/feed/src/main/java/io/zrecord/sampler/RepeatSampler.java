package io.zrecord.sampler;

/** Gives epochs of another order one after the other. Immutable. */
final class RepeatSampler extends Sampler {
  private static final int PASS_BITS = 32;

  private final Sampler base;
  /** Number of passes; 0 for endless. */
  private final long times;

  private RepeatSampler(Sampler base, long times) {
    this.base = base;
    this.times = times;
  }

  static Sampler finite(Sampler base, long times) {
    Checks.inRange("times", times, 1, Long.MAX_VALUE, "give the number of passes");
    if (base.length() == ENDLESS) {
      return base;
    }
    if (base.length() > 0) {
      Checks.inRange(
          "times",
          times,
          1,
          Checks.MAX_LENGTH / base.length(),
          "repeat() without a number is endless");
    }
    return new RepeatSampler(base, times);
  }

  static Sampler endless(Sampler base) {
    return base.length() == ENDLESS || base.length() == 0 ? base : new RepeatSampler(base, 0);
  }

  @Override
  public long length() {
    return times == 0 ? ENDLESS : base.length() * times;
  }

  @Override
  public long bound() {
    return base.bound();
  }

  @Override
  protected void fill(long epoch, long position, long stride, long[] target, int from, int count) {
    long next = position;
    for (int done = 0; done < count; ) {
      long inside = next % base.length();
      int run = Runs.within(base.length() - inside, stride, count - done);
      base.fill(passOf(epoch, next / base.length()), inside, stride, target, from + done, run);
      done += run;
      next += run * stride;
    }
  }

  private long passOf(long epoch, long pass) {
    if (times > 0) {
      return Math.addExact(Math.multiplyExact(epoch, times), pass);
    }
    if (epoch >>> (PASS_BITS - 1) != 0 || pass >>> PASS_BITS != 0) {
      throw new IllegalArgumentException("Cannot give pass " + pass + " of epoch " + epoch + " of "
          + this + ": passes are below 2^32 and epochs below 2^31; begin the next epoch");
    }
    return epoch << PASS_BITS | pass;
  }

  @Override
  public String toString() {
    return base + ".repeat(" + (times == 0 ? "" : times) + ")";
  }
}
