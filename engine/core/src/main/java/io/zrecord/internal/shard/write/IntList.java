package io.zrecord.internal.shard.write;

import java.util.Arrays;

/** A growing array of ints. */
final class IntList {
  private int[] values = new int[64];
  private int count;

  void add(int value) {
    if (count == values.length) {
      values = Arrays.copyOf(values, Math.multiplyExact(count, 2));
    }
    values[count++] = value;
  }

  int get(int i) {
    return values[i];
  }

  int count() {
    return count;
  }

  void clear() {
    count = 0;
  }

  int[] toArray() {
    return Arrays.copyOf(values, count);
  }
}
