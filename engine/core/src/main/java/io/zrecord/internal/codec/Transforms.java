package io.zrecord.internal.codec;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Rearranges the bytes of a block before a codec compresses them (FORMAT.md section 5). Bytes of
 * equal weight of neighbouring elements are alike, and a codec finds that only if they are
 * neighbours too.
 *
 * <p>Elements have 2, 4, 8 or 16 bytes. The loops move 8 elements at a time in 64-bit words, which
 * needs no vector instructions to be several times as fast as a decoder, and no intrinsic of a
 * certain processor.
 */
public final class Transforms {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

  private static final long BYTES_OF_2 = 0x00FF_00FF_00FF_00FFL;
  private static final long HALVES_OF_4 = 0x0000_FFFF_0000_FFFFL;
  private static final long LOW = 0xFFFF_FFFFL;

  /** Elements that are moved at a time. */
  private static final int STEP = 8;

  /**
   * Elements of 8 bytes whose cache lines are loaded at a time: the lines of equal bytes are at
   * distances that are often multiples of 4 KiB, so that they displace each other.
   */
  private static final int TILE = 64;

  private Transforms() {}

  /** Tells whether elements of a width can be transposed. */
  public static boolean canTranspose(int width) {
    return width == 2 || width == 4 || width == 8 || width == 16;
  }

  /** Tells whether elements of a width have differences. */
  public static boolean hasDifferences(int width) {
    return width == 2 || width == 4 || width == 8;
  }

  /**
   * Writes byte 0 of all elements, then byte 1 of all, and so on.
   *
   * @param length bytes of the elements, a multiple of {@code width}
   */
  public static void transpose(
      int width, byte[] source, int from, int length, byte[] target, int at) {
    int count = length / width;
    int whole = count & -STEP;
    switch (width) {
      case 2 -> transpose2(source, from, count, target, at);
      case 4 -> transpose4(source, from, count, target, at);
      case 8 -> transpose8(source, from, count, target, at, 8, 0);
      default -> {
        transpose8(source, from, count, target, at, width, 0);
        transpose8(source, from, count, target, at, width, 8);
      }
    }
    for (int i = whole; i < count; i++) {
      for (int k = 0; k < width; k++) {
        target[at + k * count + i] = source[from + i * width + k];
      }
    }
  }

  /** Reverses {@link #transpose}. */
  public static void restore(
      int width, byte[] source, int from, int length, byte[] target, int at) {
    int count = length / width;
    int whole = count & -STEP;
    switch (width) {
      case 2 -> restore2(source, from, count, target, at);
      case 4 -> restore4(source, from, count, target, at);
      case 8 -> restore8(source, from, count, target, at, 8, 0);
      default -> {
        restore8(source, from, count, target, at, width, 0);
        restore8(source, from, count, target, at, width, 8);
      }
    }
    for (int i = whole; i < count; i++) {
      for (int k = 0; k < width; k++) {
        target[at + i * width + k] = source[from + k * count + i];
      }
    }
  }

  /**
   * Writes the first element, and then the difference of each element from the one before, modulo
   * 2⁸ʷ.
   */
  public static void differences(
      int width, byte[] source, int from, int length, byte[] target, int at) {
    switch (width) {
      case 2 -> {
        short before = 0;
        for (int i = 0; i < length; i += 2) {
          short value = (short) SHORTS.get(source, from + i);
          SHORTS.set(target, at + i, (short) (value - before));
          before = value;
        }
      }
      case 4 -> {
        int before = 0;
        for (int i = 0; i < length; i += 4) {
          int value = (int) INTS.get(source, from + i);
          INTS.set(target, at + i, value - before);
          before = value;
        }
      }
      default -> {
        long before = 0;
        for (int i = 0; i < length; i += 8) {
          long value = (long) LONGS.get(source, from + i);
          LONGS.set(target, at + i, value - before);
          before = value;
        }
      }
    }
  }

  /** Reverses {@link #differences} in place. */
  public static void sums(int width, byte[] bytes, int at, int length) {
    switch (width) {
      case 2 -> {
        short sum = 0;
        for (int i = 0; i < length; i += 2) {
          sum = (short) (sum + (short) SHORTS.get(bytes, at + i));
          SHORTS.set(bytes, at + i, sum);
        }
      }
      case 4 -> {
        int sum = 0;
        for (int i = 0; i < length; i += 4) {
          sum += (int) INTS.get(bytes, at + i);
          INTS.set(bytes, at + i, sum);
        }
      }
      default -> {
        long sum = 0;
        for (int i = 0; i < length; i += 8) {
          sum += (long) LONGS.get(bytes, at + i);
          LONGS.set(bytes, at + i, sum);
        }
      }
    }
  }

  public static long unsignedInt(byte[] bytes, int at) {
    return (int) INTS.get(bytes, at) & LOW;
  }

  /** Writes a number of 2, 4 or 8 bytes. */
  public static void put(byte[] target, int at, long value, int width) {
    switch (width) {
      case 2 -> SHORTS.set(target, at, (short) value);
      case 4 -> INTS.set(target, at, (int) value);
      default -> LONGS.set(target, at, value);
    }
  }

  private static void transpose2(byte[] source, int from, int count, byte[] target, int at) {
    int high = at + count;
    for (int i = 0; i + STEP <= count; i += STEP) {
      long x = (long) LONGS.get(source, from + 2 * i);
      long y = (long) LONGS.get(source, from + 2 * i + 8);
      LONGS.set(target, at + i, evenBytes(x) | evenBytes(y) << 32);
      LONGS.set(target, high + i, evenBytes(x >>> 8) | evenBytes(y >>> 8) << 32);
    }
  }

  /** Returns bytes 0, 2, 4 and 6 next to each other. */
  private static long evenBytes(long x) {
    long pairs = x & BYTES_OF_2;
    pairs = (pairs | pairs >>> 8) & HALVES_OF_4;
    return (pairs | pairs >>> 16) & LOW;
  }

  private static void restore2(byte[] source, int from, int count, byte[] target, int at) {
    int high = from + count;
    for (int i = 0; i + STEP <= count; i += STEP) {
      long a = (long) LONGS.get(source, from + i);
      long b = (long) LONGS.get(source, high + i);
      LONGS.set(target, at + 2 * i, spread(a & LOW) | spread(b & LOW) << 8);
      LONGS.set(target, at + 2 * i + 8, spread(a >>> 32) | spread(b >>> 32) << 8);
    }
  }

  /** Reverses {@link #evenBytes}. */
  private static long spread(long x) {
    long pairs = (x | x << 16) & HALVES_OF_4;
    return (pairs | pairs << 8) & BYTES_OF_2;
  }

  private static void transpose4(byte[] source, int from, int count, byte[] target, int at) {
    for (int i = 0; i + STEP <= count; i += STEP) {
      int in = from + 4 * i;
      long v01 = (long) LONGS.get(source, in);
      long v23 = (long) LONGS.get(source, in + 8);
      long v45 = (long) LONGS.get(source, in + 16);
      long v67 = (long) LONGS.get(source, in + 24);
      long a = (v01 & LOW) | v45 << 32;
      long b = v01 >>> 32 | (v45 & ~LOW);
      long c = (v23 & LOW) | v67 << 32;
      long d = v23 >>> 32 | (v67 & ~LOW);
      long t = (a >>> 16 ^ c) & HALVES_OF_4;
      a ^= t << 16;
      c ^= t;
      t = (b >>> 16 ^ d) & HALVES_OF_4;
      b ^= t << 16;
      d ^= t;
      t = (a >>> 8 ^ b) & BYTES_OF_2;
      LONGS.set(target, at + i, a ^ t << 8);
      LONGS.set(target, at + count + i, b ^ t);
      t = (c >>> 8 ^ d) & BYTES_OF_2;
      LONGS.set(target, at + 2 * count + i, c ^ t << 8);
      LONGS.set(target, at + 3 * count + i, d ^ t);
    }
  }

  private static void restore4(byte[] source, int from, int count, byte[] target, int at) {
    for (int i = 0; i + STEP <= count; i += STEP) {
      long a = (long) LONGS.get(source, from + i);
      long b = (long) LONGS.get(source, from + count + i);
      long c = (long) LONGS.get(source, from + 2 * count + i);
      long d = (long) LONGS.get(source, from + 3 * count + i);
      long t = (a >>> 8 ^ b) & BYTES_OF_2;
      a ^= t << 8;
      b ^= t;
      t = (c >>> 8 ^ d) & BYTES_OF_2;
      c ^= t << 8;
      d ^= t;
      t = (a >>> 16 ^ c) & HALVES_OF_4;
      a ^= t << 16;
      c ^= t;
      t = (b >>> 16 ^ d) & HALVES_OF_4;
      b ^= t << 16;
      d ^= t;
      int out = at + 4 * i;
      LONGS.set(target, out, (a & LOW) | b << 32);
      LONGS.set(target, out + 8, (c & LOW) | d << 32);
      LONGS.set(target, out + 16, a >>> 32 | (b & ~LOW));
      LONGS.set(target, out + 24, c >>> 32 | (d & ~LOW));
    }
  }

  /** Transposes 8 bytes of each element, from byte {@code first} of the element on. */
  private static void transpose8(
      byte[] source, int from, int count, byte[] target, int at, int width, int first) {
    long[] tile = new long[TILE];
    int out = at + first * count;
    int i = 0;
    for (; i + TILE <= count; i += TILE) {
      for (int k = 0; k < STEP; k++) {
        for (int j = 0; j < STEP; j++) {
          tile[k * STEP + j] = (long) LONGS.get(source, from + width * (i + k * STEP + j) + first);
        }
        square(tile, k * STEP);
      }
      for (int j = 0; j < STEP; j++) {
        for (int k = 0; k < STEP; k++) {
          LONGS.set(target, out + j * count + i + k * STEP, tile[k * STEP + j]);
        }
      }
    }
    for (; i + STEP <= count; i += STEP) {
      for (int j = 0; j < STEP; j++) {
        tile[j] = (long) LONGS.get(source, from + width * (i + j) + first);
      }
      square(tile, 0);
      for (int j = 0; j < STEP; j++) {
        LONGS.set(target, out + j * count + i, tile[j]);
      }
    }
  }

  private static void restore8(
      byte[] source, int from, int count, byte[] target, int at, int width, int first) {
    long[] tile = new long[TILE];
    int in = from + first * count;
    int i = 0;
    for (; i + TILE <= count; i += TILE) {
      for (int j = 0; j < STEP; j++) {
        for (int k = 0; k < STEP; k++) {
          tile[k * STEP + j] = (long) LONGS.get(source, in + j * count + i + k * STEP);
        }
      }
      for (int k = 0; k < STEP; k++) {
        square(tile, k * STEP);
        for (int j = 0; j < STEP; j++) {
          LONGS.set(target, at + width * (i + k * STEP + j) + first, tile[k * STEP + j]);
        }
      }
    }
    for (; i + STEP <= count; i += STEP) {
      for (int j = 0; j < STEP; j++) {
        tile[j] = (long) LONGS.get(source, in + j * count + i);
      }
      square(tile, 0);
      for (int j = 0; j < STEP; j++) {
        LONGS.set(target, at + width * (i + j) + first, tile[j]);
      }
    }
  }

  /** Transposes a square of 8 × 8 bytes in place. */
  private static void square(long[] rows, int at) {
    long a = rows[at];
    long b = rows[at + 1];
    long c = rows[at + 2];
    long d = rows[at + 3];
    long e = rows[at + 4];
    long f = rows[at + 5];
    long g = rows[at + 6];
    long h = rows[at + 7];
    long t = (a >>> 8 ^ b) & BYTES_OF_2;
    a ^= t << 8;
    b ^= t;
    t = (c >>> 8 ^ d) & BYTES_OF_2;
    c ^= t << 8;
    d ^= t;
    t = (e >>> 8 ^ f) & BYTES_OF_2;
    e ^= t << 8;
    f ^= t;
    t = (g >>> 8 ^ h) & BYTES_OF_2;
    g ^= t << 8;
    h ^= t;
    t = (a >>> 16 ^ c) & HALVES_OF_4;
    a ^= t << 16;
    c ^= t;
    t = (b >>> 16 ^ d) & HALVES_OF_4;
    b ^= t << 16;
    d ^= t;
    t = (e >>> 16 ^ g) & HALVES_OF_4;
    e ^= t << 16;
    g ^= t;
    t = (f >>> 16 ^ h) & HALVES_OF_4;
    f ^= t << 16;
    h ^= t;
    rows[at] = (a & LOW) | e << 32;
    rows[at + 1] = (b & LOW) | f << 32;
    rows[at + 2] = (c & LOW) | g << 32;
    rows[at + 3] = (d & LOW) | h << 32;
    rows[at + 4] = a >>> 32 | (e & ~LOW);
    rows[at + 5] = b >>> 32 | (f & ~LOW);
    rows[at + 6] = c >>> 32 | (g & ~LOW);
    rows[at + 7] = d >>> 32 | (h & ~LOW);
  }
}
