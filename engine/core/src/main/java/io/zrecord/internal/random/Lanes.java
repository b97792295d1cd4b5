package io.zrecord.internal.random;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Holds the loops that make many values at once. Each body is short, works in place and has no
 * branch and no call. The reason is that HotSpot 17 makes vector instructions only of short loops
 * that begin at one index in all their arrays and write one of them, and only if they usually run
 * for many values. So longer work is several passes over a chunk that stays in the first-level
 * cache, and fewer than {@link #MIN} values never come here.
 *
 * <p>Values are unsigned numbers of 32 bits. HotSpot 17 multiplies them eight at a time on every
 * processor with AVX2. The product of 64-bit numbers has a vector instruction on AVX-512 only.
 *
 * <p>HotSpot 17 has no vector instruction that widens numbers. So a full chunk is made in another
 * order, {@link #order}, in which the bytes of two neighbours are a number of 64 bits: the lower
 * half is a value of the first half of the chunk, and the upper half is the value of the second
 * half at the same place. {@link #widen} puts them into place, in 0.3 ns each instead of 0.6.
 */
public final class Lanes {
  /** Most values of one pass: 4 KiB. */
  public static final int CHUNK = 1024;

  /** Fewest values of one pass; fewer values are made faster one after the other. */
  static final int MIN = 128;

  /** Takes the lower half of a number of 64 bits. */
  public static final long LOWER = (1L << 32) - 1;

  private static final int HALF = CHUNK / 2;
  private static final int FOLDED = CHUNK / 8;
  private static final int[] RISING = new int[CHUNK];
  private static final int[] INTERLEAVED = new int[CHUNK];

  static {
    for (int i = 0; i < CHUNK; i++) {
      RISING[i] = i;
      INTERLEAVED[i] = i / 2 + i % 2 * HALF;
    }
  }

  private Lanes() {}

  /**
   * Returns how much of {@code left} to do next: at most a chunk, and no rest below {@link #MIN}
   * unless {@code left} is below it.
   */
  public static int next(int left) {
    return left <= CHUNK || left >= CHUNK + MIN ? Math.min(left, CHUNK) : left / 2;
  }

  /**
   * Returns the number of the position at each place of a chunk that {@link #widen} writes. The
   * caller must not change the array.
   */
  static int[] order(int count) {
    return count == CHUNK ? INTERLEAVED : RISING;
  }

  /** Returns the numbers from 0 on. The caller must not change the array. */
  static int[] rising() {
    return RISING;
  }

  /** Writes {@code start + step · order[i]}. */
  static void ramp(int[] order, int start, int step, int[] values, int count) {
    for (int i = 0; i < count; i++) {
      values[i] = order[i] * step + start;
    }
  }

  /** Makes numbers of 64 bits of a chunk that is in the {@link #order} of its length. */
  static void widen(int[] values, Scratch scratch, long[] target, int from, int count) {
    if (count < CHUNK) {
      for (int i = 0; i < count; i++) {
        target[from + i] = values[i] & LOWER;
      }
      return;
    }
    scratch.ints.put(0, values, 0, CHUNK);
    scratch.longs.get(0, target, from, HALF);
    split(target, from);
  }

  /**
   * Splits numbers into halves. The distance of the two places is a constant, so that the compiler
   * knows that they differ.
   */
  private static void split(long[] target, int from) {
    for (int i = from; i < from + HALF; i++) {
      long two = target[i];
      target[i + HALF] = two >>> 32;
      target[i] = two & LOWER;
    }
  }

  /**
   * Makes room for a chunk, in the order of bytes that makes the first of two neighbours the lower
   * half.
   */
  static ByteBuffer bytes() {
    return ByteBuffer.allocate(CHUNK * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Takes the lower halves of numbers of 64 bits. */
  static void narrow(long[] values, int from, int[] target, int count) {
    for (int i = 0; i < count; i++) {
      target[i] = (int) values[from + i];
    }
  }

  /**
   * Writes the places of negative values; returns their number, which is expected to be 0.
   *
   * @param folded is overwritten
   * @param places has room for all values
   */
  static int negative(int[] values, int[] folded, int count, int[] places) {
    if (count < CHUNK) {
      return negative(values, count, places);
    }
    fold(values, folded);
    int suspects = negative(folded, FOLDED, places);
    return suspects == 0 ? 0 : negativeOfFolded(values, suspects, places);
  }

  private static int negative(int[] values, int count, int[] places) {
    int found = 0;
    int i = 0;
    for (; i < count - 7; i += 8) {
      int lower = values[i] | values[i + 1] | values[i + 2] | values[i + 3];
      int upper = values[i + 4] | values[i + 5] | values[i + 6] | values[i + 7];
      if ((lower | upper) < 0) {
        found = negative(values, i, i + 8, 1, places, found);
      }
    }
    return negative(values, i, count, 1, places, found);
  }

  /** Replaces places of folded values by places of values. */
  private static int negativeOfFolded(int[] values, int suspects, int[] places) {
    int[] copied = Arrays.copyOf(places, suspects);
    int found = 0;
    for (int suspect : copied) {
      found = negative(values, suspect, CHUNK, FOLDED, places, found);
    }
    return found;
  }

  private static int negative(
      int[] values, int from, int to, int step, int[] places, int alreadyFound) {
    int found = alreadyFound;
    for (int i = from; i < to; i += step) {
      if (values[i] < 0) {
        places[found++] = i;
      }
    }
    return found;
  }

  private static void fold(int[] values, int[] folded) {
    for (int i = 0; i < FOLDED; i++) {
      folded[i] = values[i]
          | values[i + FOLDED]
          | values[i + 2 * FOLDED]
          | values[i + 3 * FOLDED]
          | values[i + 4 * FOLDED]
          | values[i + 5 * FOLDED]
          | values[i + 6 * FOLDED]
          | values[i + 7 * FOLDED];
    }
  }
}
