package io.zrecord.rebalance.order;

/**
 * Sorts records stably by a key of 64 bits without sign. Passes go from the least significant byte
 * up and leave out bytes that all keys share. Belongs to one thread.
 */
final class RadixSort {
  private static final int DIGITS = Long.BYTES;
  private static final int VALUES = 256;

  private final long[] keys;
  private final int[] spare;

  /**
   * Prepares sorts by {@code keys}.
   *
   * @param keys of the records; may change between sorts
   * @param spare scratch memory of the same length
   */
  RadixSort(long[] keys, int[] spare) {
    this.keys = keys;
    this.spare = spare;
  }

  /** Sorts {@code order[0, count)} by the keys. Records with equal keys keep their order. */
  void sort(int[] order, int count) {
    int[] counts = count(order, count);
    int[] from = order;
    int[] to = spare;
    for (int digit = 0; digit < DIGITS; digit++) {
      if (isShared(counts, digit, count)) {
        continue;
      }
      int[] next = places(counts, digit);
      int shift = digit * Byte.SIZE;
      for (int i = 0; i < count; i++) {
        int record = from[i];
        to[next[(int) (keys[record] >>> shift) & 0xff]++] = record;
      }
      int[] swap = from;
      from = to;
      to = swap;
    }
    if (from != order) {
      System.arraycopy(from, 0, order, 0, count);
    }
  }

  private int[] count(int[] order, int count) {
    int[] counts = new int[DIGITS * VALUES];
    for (int i = 0; i < count; i++) {
      long key = keys[order[i]];
      for (int digit = 0; digit < DIGITS; digit++) {
        counts[digit * VALUES + ((int) (key >>> (digit * Byte.SIZE)) & 0xff)]++;
      }
    }
    return counts;
  }

  private static boolean isShared(int[] counts, int digit, int count) {
    for (int value = 0; value < VALUES; value++) {
      if (counts[digit * VALUES + value] > 0) {
        return counts[digit * VALUES + value] == count;
      }
    }
    return true;
  }

  private static int[] places(int[] counts, int digit) {
    int[] places = new int[VALUES];
    for (int value = 1; value < VALUES; value++) {
      places[value] = places[value - 1] + counts[digit * VALUES + value - 1];
    }
    return places;
  }
}
