package io.zrecord.internal.format;

/**
 * Where the values of variable runs begin (FORMAT.md section 5): at the next multiple of
 * {@code least} after the value before, or of {@code most} where the two ends are then {@code most}
 * or more bytes apart. So the place of a value follows from two ends, and a gap is less than 8
 * bytes longer than the value after it. Immutable.
 *
 * @param least a power of two up to {@value #MOST_LEAST}
 * @param most a power of two from {@code least} to {@value #MOST_MOST}
 */
public record ValueAlignment(int least, int most) {
  /** Values without gaps. */
  public static final ValueAlignment NONE = new ValueAlignment(1, 1);

  /** Widest {@code least}. */
  public static final int MOST_LEAST = 8;

  /** Widest {@code most}. */
  public static final int MOST_MOST = 1 << 20;

  public ValueAlignment {
    if (!isPower(least, MOST_LEAST) || !isPower(most, MOST_MOST) || least > most) {
      throw new IllegalArgumentException("No alignment: " + least + ", " + most);
    }
  }

  private static boolean isPower(int number, int most) {
    return number > 0 && number <= most && Integer.bitCount(number) == 1;
  }

  /** Returns where a value begins that ends at {@code end}. */
  public long start(long previousEnd, long end) {
    return align(previousEnd, end - previousEnd >= most ? most : least);
  }

  /** Returns where a value of some bytes is to begin. */
  public long startFor(long previousEnd, long lengthBytes) {
    long start = align(previousEnd, least);
    return start + lengthBytes - previousEnd >= most ? align(previousEnd, most) : start;
  }

  private static long align(long position, int bytes) {
    return (position + bytes - 1) & -bytes;
  }
}
