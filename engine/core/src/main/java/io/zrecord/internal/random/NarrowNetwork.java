package io.zrecord.internal.random;

/** Permutes the numbers of up to 32 bits: multiplies, adds and folds them. Immutable. */
final class NarrowNetwork implements Network {
  private final long length;
  private final int mask;
  private final int shift;
  private final int[] multipliers;
  private final int[] addends;

  NarrowNetwork(long length, int bits, int[] multipliers, int[] addends) {
    this.length = length;
    this.mask = (int) ((1L << bits) - 1);
    this.shift = (bits + 1) / 2;
    this.multipliers = multipliers;
    this.addends = addends;
  }

  @Override
  public long forward(long value) {
    return forward((int) value) & Lanes.LOWER;
  }

  private int forward(int value) {
    int x = value;
    for (int round = 0; round < multipliers.length; round++) {
      x = (x * multipliers[round] + addends[round]) & mask;
      x ^= x >>> shift;
    }
    return x;
  }

  @Override
  public long backward(long value) {
    int x = (int) value;
    for (int round = multipliers.length - 1; round >= 0; round--) {
      x ^= x >>> shift;
      x = ((x - addends[round]) * inverse(multipliers[round])) & mask;
    }
    return x & Lanes.LOWER;
  }

  /**
   * Inverts an odd number modulo 2³², by Newton's iteration: each step doubles the number of right
   * bits, which is three at the start.
   */
  private static int inverse(int odd) {
    int x = odd;
    for (int right = 3; right < Integer.SIZE; right *= 2) {
      x *= 2 - odd * x;
    }
    return x;
  }

  @Override
  public void fill(long first, long stride, long[] target, int from, int count) {
    Scratch scratch = Scratch.own();
    Lanes.ramp(Lanes.order(count), (int) first, (int) stride, scratch.high, count);
    walk(scratch.high, count, scratch);
    Lanes.widen(scratch.high, scratch, target, from, count);
  }

  @Override
  public void map(long[] values, int from, int count) {
    Scratch scratch = Scratch.own();
    Lanes.narrow(values, from, scratch.high, count);
    walk(scratch.high, count, scratch);
    for (int i = 0; i < count; i++) {
      values[from + i] = scratch.high[i] & Lanes.LOWER;
    }
  }

  /** Takes all values one step, then goes on with those out of range together, densely packed. */
  private void walk(int[] values, int count, Scratch scratch) {
    rounds(values, count);
    if (length - 1 == (mask & Lanes.LOWER)) {
      return;
    }
    int left = RoundLanes.beyond(length, values, count, scratch.places);
    while (left > 0) {
      left = walkOn(values, left, scratch.places, scratch.low);
    }
  }

  private int walkOn(int[] values, int left, int[] places, int[] packed) {
    if (left < FEW) {
      for (int i = 0; i < left; i++) {
        packed[i] = forward(values[places[i]]);
      }
    } else {
      for (int i = 0; i < left; i++) {
        packed[i] = values[places[i]];
      }
      rounds(packed, Math.max(left, Lanes.MIN));
    }
    int still = 0;
    for (int i = 0; i < left; i++) {
      int value = packed[i];
      int place = places[i];
      values[place] = value;
      places[still] = place;
      still += (int) ((length - 1 - (value & Lanes.LOWER)) >>> 63);
    }
    return still;
  }

  private void rounds(int[] values, int count) {
    for (int round = 0; round < multipliers.length; round += 2) {
      RoundLanes.rounds(
          values,
          count,
          mask,
          shift,
          multipliers[round],
          addends[round],
          multipliers[round + 1],
          addends[round + 1]);
    }
  }
}
