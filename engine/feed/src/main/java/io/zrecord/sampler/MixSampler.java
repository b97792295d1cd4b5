package io.zrecord.sampler;

import io.zrecord.internal.random.Mixing;
import io.zrecord.internal.random.Permutation;
import java.util.Arrays;

/**
 * Mixes several orders into one. Positions are cut into rounds. A round holds what the schedule of
 * the rates says, in random order, and each source goes on in its own order. Immutable.
 *
 * <p>Indices are those of the sources laid end to end: source {@code s} begins at the sum of the
 * bounds before it, so that an index also tells its source.
 */
public final class MixSampler extends Sampler {
  static final int MAX_ROUND = 1 << 20;

  private final Sampler[] sources;
  private final long[] rates;
  /** First index of every source, and the bound after the last. */
  private final long[] offsets;

  private final long total;
  private final long length;
  private final int round;
  private final long seed;

  /** Keeps the arrays; the caller must not change them afterwards. */
  MixSampler(Sampler[] sources, long[] rates, long[] offsets, long length, int round, long seed) {
    this.sources = sources;
    this.rates = rates;
    this.offsets = offsets;
    this.total = Checks.length("sum of the rates", Arrays.stream(rates).reduce(0, Math::addExact));
    this.length = length;
    this.round = (int) Checks.inRange(
        "batchSize", round, 1, MAX_ROUND, "give the length of a batch, or some hundreds");
    this.seed = seed;
  }

  @Override
  public long length() {
    return length;
  }

  @Override
  public long bound() {
    return offsets[offsets.length - 1];
  }

  /**
   * Returns the number of the source that an index is of.
   *
   * @throws IndexOutOfBoundsException if the index is not in {@code [0, bound())}
   */
  public int sourceOf(long index) {
    if (index < 0 || index >= bound()) {
      throw new IndexOutOfBoundsException("Cannot find the source of index " + index
          + ": indices of " + this + " are in [0, " + bound() + ")");
    }
    int found = Arrays.binarySearch(offsets, index);
    int source = found >= 0 ? found : -found - 2;
    while (offsets[source + 1] == index) {
      source++;
    }
    return source;
  }

  /**
   * Returns the index within its source.
   *
   * @throws IndexOutOfBoundsException if the index is not in {@code [0, bound())}
   */
  public long indexInSource(long index) {
    return index - offsets[sourceOf(index)];
  }

  @Override
  protected void fill(long epoch, long position, long stride, long[] target, int from, int count) {
    long key = Mixing.key(Mixing.ROUNDS, seed, epoch);
    long next = position;
    for (int done = 0; done < count; ) {
      long number = next / round;
      long inside = next % round;
      int inRound = (int) Math.min(round, length - number * round);
      int run = Runs.within(inRound - inside, stride, count - done);
      long[] values = valuesOf(epoch, number * round, inRound);
      new Permutation(Mixing.absorb(key, number), inRound)
          .fill(inside, stride, target, from + done, run);
      for (int i = from + done; i < from + done + run; i++) {
        target[i] = values[(int) target[i]];
      }
      done += run;
      next += run * stride;
    }
  }

  /** Returns the indices of a round, in the order of the schedule. */
  private long[] valuesOf(long epoch, long first, int count) {
    long cycle = first / total;
    Schedule schedule = new Schedule(rates, total, first % total);
    long[] begun = new long[sources.length];
    for (int source = 0; source < sources.length; source++) {
      begun[source] = schedule.taken(source);
    }
    int[] turns = new int[count];
    for (int i = 0; i < count; i++) {
      turns[i] = schedule.next();
    }
    int[] places = new int[sources.length];
    long[] drawn = new long[count];
    int used = 0;
    for (int source = 0; source < sources.length; source++) {
      int run = (int) (schedule.taken(source) - begun[source]);
      if (run > 0) {
        long start = Math.addExact(Math.multiplyExact(cycle, rates[source]), begun[source]);
        sources[source].fill(epoch, start, 1, drawn, used, run);
      }
      places[source] = used;
      used += run;
    }
    long[] values = new long[count];
    for (int i = 0; i < count; i++) {
      int source = turns[i];
      values[i] = offsets[source] + drawn[places[source]++];
    }
    return values;
  }

  @Override
  public String toString() {
    return "mix(" + sources.length + " sources, rounds of " + round + ", seed " + seed + ")";
  }
}
