package io.zrecord.sampler;

/**
 * A permutation of {@code [0, length)} chosen by a 64-bit key, in constant memory (SAMPLERS.md section 4): eight rounds of keyed
 * multiplication, keyed addition and folding on the smallest number of bits that holds {@code length} (at least 8), walked until the
 * value is in range, which takes fewer than two steps on average for lengths above 128. A key bit exchanges the first two positions,
 * so that odd and even permutations are equally likely. Immutable.
 *
 * <p>Sources: cycle walking after Black and Rogaway, "Ciphers with Arbitrary Finite Domains" (2002); rounds after Kensler, "Correlated
 * Multi-Jittered Sampling" (2013), with keys in the place of its constants. It mixes; it is no cipher.
 */
final class Permutation {
  private static final int ROUNDS = 8;
  private static final int MIN_BITS = 8;
  /** Below this many values, one after the other is faster than a vector loop over {@link Lanes#MIN}. */
  private static final int FEW = 48;

  private final long length;
  private final long mask;
  private final int shift;
  private final long exchange;
  private final long[] multipliers = new long[ROUNDS];
  private final long[] addends = new long[ROUNDS];

  /**
   * @param key chooses the permutation
   * @param length at least 1 and at most 2⁶²
   */
  Permutation(long key, long length) {
    int bits = Math.max(MIN_BITS, Long.SIZE - Long.numberOfLeadingZeros(length - 1));
    this.length = length;
    this.mask = (1L << bits) - 1;
    this.shift = (bits + 1) / 2;
    for (int round = 0; round < ROUNDS; round++) {
      multipliers[round] = Mixing.expand(key, 2 * round) | 1;
      addends[round] = Mixing.expand(key, 2 * round + 1);
    }
    this.exchange = length > 1 ? Mixing.expand(key, 2 * ROUNDS) & 1 : 0;
  }

  /** Where {@code x} goes. */
  long apply(long x) {
    if (length == 1) {
      return 0;
    }
    long value = x < 2 ? x ^ exchange : x;
    do {
      value = rounds(value);
    } while (value >= length);
    return value;
  }

  /** What goes to {@code y}. */
  long invert(long y) {
    if (length == 1) {
      return 0;
    }
    long value = y;
    do {
      value = inverseRounds(value);
    } while (value >= length);
    return value < 2 ? value ^ exchange : value;
  }

  /** Where {@code start, start + stride, …} go; all are in {@code [0, length)}. */
  void fill(long start, long stride, long[] target, int from, int count) {
    if (count < Lanes.MIN || length == 1) {
      for (int i = 0; i < count; i++) {
        target[from + i] = apply(start + i * stride);
      }
      return;
    }
    Scratch scratch = Scratch.own();
    for (int done = 0; done < count; ) {
      int chunk = Lanes.next(count - done);
      long first = start + done * stride;
      Lanes.ramp(first, stride, target, from + done, chunk);
      for (int i = 0; i < chunk && first + i * stride < 2; i++) {
        target[from + done + i] ^= exchange;
      }
      walk(target, from + done, chunk, scratch);
      done += chunk;
    }
  }

  /** Replaces values by where they go. */
  void map(long[] values, int from, int count) {
    if (count < Lanes.MIN || length == 1) {
      for (int i = from; i < from + count; i++) {
        values[i] = apply(values[i]);
      }
      return;
    }
    for (int i = from; i < from + count; i++) {
      values[i] ^= exchange & ((values[i] - 2) >>> 63);
    }
    Scratch scratch = Scratch.own();
    for (int done = 0; done < count; ) {
      int chunk = Lanes.next(count - done);
      walk(values, from + done, chunk, scratch);
      done += chunk;
    }
  }

  private long rounds(long value) {
    long x = value;
    for (int round = 0; round < ROUNDS; round++) {
      x = (x * multipliers[round] + addends[round]) & mask;
      x ^= x >>> shift;
    }
    return x;
  }

  private long inverseRounds(long value) {
    long x = value;
    for (int round = ROUNDS - 1; round >= 0; round--) {
      x ^= x >>> shift;
      x = ((x - addends[round]) * inverse(multipliers[round])) & mask;
    }
    return x;
  }

  /** Of an odd number modulo 2⁶⁴, by Newton's iteration: each step doubles the three right bits of the start. */
  private static long inverse(long odd) {
    long x = odd;
    for (int right = 3; right < Long.SIZE; right *= 2) {
      x *= 2 - odd * x;
    }
    return x;
  }

  private void rounds(long[] values, int from, int count) {
    for (int round = 0; round < ROUNDS; round += 2) {
      long m = multipliers[round];
      long a = addends[round];
      long n = multipliers[round + 1];
      long b = addends[round + 1];
      if (count >= Lanes.MIN) {
        Lanes.rounds(values, from, count, mask, shift, m, a, n, b);
      } else {
        Lanes.fewRounds(values, count, mask, shift, m, a, n, b);
      }
    }
  }

  /** One step for all, then the values still out of range go through the rounds together, densely packed. */
  private void walk(long[] values, int from, int count, Scratch scratch) {
    rounds(values, from, count);
    if (length > mask) {
      return;
    }
    int left = Lanes.beyond(length, values, from, count, scratch.places);
    while (left > 0) {
      left = walkOn(values, left, scratch.places, scratch.packed);
    }
  }

  private int walkOn(long[] values, int left, int[] places, long[] packed) {
    for (int i = 0; i < left; i++) {
      packed[i] = values[places[i]];
    }
    rounds(packed, 0, left < FEW ? left : Math.max(left, Lanes.MIN));
    int still = 0;
    for (int i = 0; i < left; i++) {
      long value = packed[i];
      int place = places[i];
      values[place] = value;
      places[still] = place;
      still += (int) ((length - 1 - value) >>> 63);
    }
    return still;
  }
}
