package io.zrecord.internal.random;

/**
 * Permutes the numbers of 33 to 62 bits with a Feistel network. Its halves are numbers of up to 31
 * bits, because products of 64 bits take five times as long on processors without AVX-512.
 * Immutable.
 */
public final class WideNetwork implements Network {
  static final int FACTOR = Words.SECOND;

  private final long length;
  private final long mask;
  private final int shift;
  private final int lowMask;
  private final int highMask;
  private final int lowShift;
  private final int highShift;
  private final int[] multipliers;
  private final int[] addends;

  public WideNetwork(long length, int bits, int[] multipliers, int[] addends) {
    this.length = length;
    this.mask = (1L << bits) - 1;
    this.shift = (bits + 1) / 2;
    this.lowMask = (1 << shift) - 1;
    this.highMask = (1 << (bits - shift)) - 1;
    this.lowShift = Integer.SIZE - shift;
    this.highShift = Integer.SIZE - (bits - shift);
    this.multipliers = multipliers;
    this.addends = addends;
  }

  @Override
  public long forward(long value) {
    int low = (int) value & lowMask;
    int high = (int) (value >>> shift);
    for (int round = 0; round < multipliers.length; round += 2) {
      high = (high + (mixed(low, round) >>> highShift)) & highMask;
      low = (low + (mixed(high, round + 1) >>> lowShift)) & lowMask;
    }
    return ((long) high << shift) | low;
  }

  @Override
  public long backward(long value) {
    int low = (int) value & lowMask;
    int high = (int) (value >>> shift);
    for (int round = multipliers.length - 2; round >= 0; round -= 2) {
      low = (low - (mixed(high, round + 1) >>> lowShift)) & lowMask;
      high = (high - (mixed(low, round) >>> highShift)) & highMask;
    }
    return ((long) high << shift) | low;
  }

  private int mixed(int half, int round) {
    int x = half * multipliers[round] + addends[round];
    return (x ^ (x >>> 15)) * FACTOR;
  }

  @Override
  public void fill(long first, long stride, long[] target, int from, int count) {
    for (int i = 0; i < count; i++) {
      target[from + i] = first + i * stride;
    }
    map(target, from, count);
  }

  /** Takes all values one step, then goes on with those out of range together, densely packed. */
  @Override
  public void map(long[] values, int from, int count) {
    Scratch scratch = Scratch.own();
    rounds(values, from, count, scratch);
    if (length > mask) {
      return;
    }
    int left = RoundLanes.beyond(length, values, from, count, scratch.places);
    while (left > 0) {
      left = walkOn(values, left, scratch);
    }
  }

  private int walkOn(long[] values, int left, Scratch scratch) {
    int[] places = scratch.places;
    long[] packed = scratch.packed;
    if (left < FEW) {
      for (int i = 0; i < left; i++) {
        packed[i] = forward(values[places[i]]);
      }
    } else {
      for (int i = 0; i < left; i++) {
        packed[i] = values[places[i]];
      }
      rounds(packed, 0, Math.max(left, Lanes.MIN), scratch);
    }
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

  private void rounds(long[] values, int from, int count, Scratch scratch) {
    int[] high = scratch.high;
    int[] low = scratch.low;
    RoundLanes.split(values, from, count, shift, lowMask, high, low);
    for (int round = 0; round < multipliers.length; round += 2) {
      int next = round + 1;
      RoundLanes.round(high, low, count, highMask, highShift, multipliers[round], addends[round]);
      RoundLanes.round(low, high, count, lowMask, lowShift, multipliers[next], addends[next]);
    }
    RoundLanes.join(high, low, shift, values, from, count);
  }
}
