package io.zrecord.internal.random;

/** Holds the loops of {@link Lanes} that permute (SAMPLERS.md section 4). */
final class RoundLanes {
  private RoundLanes() {}

  /** Applies two rounds of a permutation of up to 32 bits. */
  static void rounds(int[] values, int count, int mask, int shift, int m, int a, int n, int b) {
    for (int i = 0; i < count; i++) {
      int x = (values[i] * m + a) & mask;
      x ^= x >>> shift;
      x = (x * n + b) & mask;
      values[i] = x ^ (x >>> shift);
    }
  }

  /** Applies a round of a permutation of more bits: adds to one half what it makes of the other. */
  static void round(int[] half, int[] other, int count, int mask, int shift, int m, int a) {
    for (int i = 0; i < count; i++) {
      int x = other[i] * m + a;
      half[i] = (half[i] + (((x ^ (x >>> 15)) * WideNetwork.FACTOR) >>> shift)) & mask;
    }
  }

  /** Cuts values into halves. */
  static void split(
      long[] values, int from, int count, int shift, int mask, int[] high, int[] low) {
    for (int i = 0; i < count; i++) {
      long value = values[from + i];
      low[i] = (int) value & mask;
      high[i] = (int) (value >>> shift);
    }
  }

  /** Joins halves. */
  static void join(int[] high, int[] low, int shift, long[] values, int from, int count) {
    for (int i = 0; i < count; i++) {
      values[from + i] = ((long) high[i] << shift) | low[i];
    }
  }

  /**
   * Writes the places of values that are {@code limit} or more; returns their number.
   *
   * @param places has room for one more than {@code count}
   */
  static int beyond(long limit, int[] values, int count, int[] places) {
    int found = 0;
    for (int i = 0; i < count; i++) {
      places[found] = i;
      found += (int) ((limit - 1 - (values[i] & Lanes.LOWER)) >>> 63);
    }
    return found;
  }

  /**
   * Writes the places of 64-bit values that are {@code limit} or more; returns their number.
   *
   * @param places has room for one more than {@code count}
   */
  static int beyond(long limit, long[] values, int from, int count, int[] places) {
    int found = 0;
    for (int i = 0; i < count; i++) {
      places[found] = from + i;
      found += (int) ((limit - 1 - values[from + i]) >>> 63);
    }
    return found;
  }
}
