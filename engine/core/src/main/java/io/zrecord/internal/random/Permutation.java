package io.zrecord.internal.random;

/**
 * Permutes {@code [0, length)} as a 64-bit key says, in constant memory (SAMPLERS.md section 4).
 * Eight keyed rounds permute the smallest number of bits that holds {@code length}, at least 8.
 * They are repeated until the value is in range, which takes fewer than two steps on average for
 * lengths above 128. A key bit exchanges the first two positions, so that odd and even permutations
 * are equally likely. Immutable.
 *
 * <p>Sources: cycle walking after Black and Rogaway, "Ciphers with Arbitrary Finite Domains"
 * (2002). Rounds of up to 32 bits are after Kensler, "Correlated Multi-Jittered Sampling" (2013),
 * with keys in place of its constants; other rounds are after Feistel. The permutation mixes; it is
 * no cipher.
 */
public final class Permutation {
  private static final int ROUNDS = 8;
  private static final int MIN_BITS = 8;

  private final long length;
  private final long exchange;
  private final Network network;

  /**
   * @param key chooses the permutation
   * @param length at least 1 and at most 2⁶²
   */
  public Permutation(long key, long length) {
    int bits = Math.max(MIN_BITS, Long.SIZE - Long.numberOfLeadingZeros(length - 1));
    int[] multipliers = new int[ROUNDS];
    int[] addends = new int[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      multipliers[round] = (int) Mixing.expand(key, 2 * round) | 1;
      addends[round] = (int) Mixing.expand(key, 2 * round + 1);
    }
    this.length = length;
    this.exchange = length > 1 ? Mixing.expand(key, 2 * ROUNDS) & 1 : 0;
    this.network = bits <= Integer.SIZE
        ? new NarrowNetwork(length, bits, multipliers, addends)
        : new WideNetwork(length, bits, multipliers, addends);
  }

  /** Returns where {@code x} goes. */
  public long apply(long x) {
    if (length == 1) {
      return 0;
    }
    long value = x < 2 ? x ^ exchange : x;
    do {
      value = network.forward(value);
    } while (value >= length);
    return value;
  }

  /** Returns what goes to {@code y}. */
  public long invert(long y) {
    if (length == 1) {
      return 0;
    }
    long value = y;
    do {
      value = network.backward(value);
    } while (value >= length);
    return value < 2 ? value ^ exchange : value;
  }

  /** Writes where {@code start, start + stride, …} go; all of them are in {@code [0, length)}. */
  public void fill(long start, long stride, long[] target, int from, int count) {
    int few = 0;
    if (count < Lanes.MIN || length == 1) {
      few = count;
    } else {
      for (int done = 0; done < count; ) {
        int chunk = Lanes.next(count - done);
        network.fill(start + done * stride, stride, target, from + done, chunk);
        done += chunk;
      }
      while (start + few * stride < 2) {
        few++;
      }
    }
    for (int i = 0; i < few; i++) {
      target[from + i] = apply(start + i * stride);
    }
  }

  /** Replaces values by where they go. */
  public void map(long[] values, int from, int count) {
    if (count < Lanes.MIN || length == 1) {
      for (int i = from; i < from + count; i++) {
        values[i] = apply(values[i]);
      }
      return;
    }
    for (int i = from; i < from + count; i++) {
      values[i] ^= exchange & ((values[i] - 2) >>> 63);
    }
    for (int done = 0; done < count; ) {
      int chunk = Lanes.next(count - done);
      network.map(values, from + done, chunk);
      done += chunk;
    }
  }
}
