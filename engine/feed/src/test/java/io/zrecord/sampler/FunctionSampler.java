package io.zrecord.sampler;

import java.util.function.LongBinaryOperator;

/**
 * An order given by a function of epoch and position: for controls, and to show that anybody can
 * write one.
 */
final class FunctionSampler extends Sampler {
  private final long length;
  private final LongBinaryOperator index;

  FunctionSampler(long length, LongBinaryOperator index) {
    this.length = length;
    this.index = index;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public long bound() {
    return length;
  }

  @Override
  protected void fill(long epoch, long position, long stride, long[] target, int from, int count) {
    for (int i = 0; i < count; i++) {
      target[from + i] = index.applyAsLong(epoch, position + i * stride);
    }
  }
}
