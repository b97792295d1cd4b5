package io.zrecord.sampler;

import io.zrecord.internal.random.AliasTable;
import io.zrecord.internal.random.Bounded;
import io.zrecord.internal.random.Lanes;
import io.zrecord.internal.random.Mixing;
import io.zrecord.internal.random.Scratch;
import io.zrecord.internal.random.Words;

/**
 * Draws with replacement, each record as often as its weight says; draws are independent. Endless.
 * Immutable.
 */
final class WeightedSampler extends Sampler {
  private final AliasTable table;
  private final Bounded bounded;
  private final long seed;

  WeightedSampler(double[] weights, long seed) {
    this.table = new AliasTable(weights);
    this.bounded = new Bounded(table.count());
    this.seed = seed;
  }

  @Override
  public long length() {
    return ENDLESS;
  }

  @Override
  public long bound() {
    return table.count();
  }

  @Override
  protected void fill(long epoch, long position, long stride, long[] target, int from, int count) {
    Words columns = Words.of(Mixing.key(Mixing.WEIGHTED, seed, epoch), position);
    Words coins = Words.of(Mixing.key(Mixing.COINS, seed, epoch), position);
    long[] scratch = Scratch.own().values;
    for (int done = 0; done < count; ) {
      int chunk = Lanes.next(count - done);
      long first = position + done * stride;
      columns = columns.near(first);
      coins = coins.near(first);
      bounded.draw(columns, first, stride, target, from + done, chunk);
      coins.fill(first, stride, scratch, 0, chunk);
      table.pick(scratch, target, from + done, chunk);
      done += chunk;
    }
  }

  @Override
  public String toString() {
    return "weighted(" + table.count() + " weights, seed " + seed + ")";
  }
}
