package io.zrecord.testing;

import java.util.Random;
import java.util.TreeSet;
import java.util.stream.LongStream;

/**
 * Chooses which cases to try of those that a test can enumerate, such as the calls that may fail.
 * The share is {@link Budget#shareOfOrders}, and the seed is that of the process. A control that
 * must show a damage enumerates its cases itself.
 */
public final class Cases {
  /** At most as many cases are all tried. */
  private static final int LEAST = 8;

  private Cases() {}

  /** Chooses of the cases from 0 to before {@code end}; see {@link #between}. */
  public static long[] before(long end) {
    return between(0, end);
  }

  /**
   * Returns the numbers of the cases to try, ascending: the first, the last, and others by chance.
   *
   * @param end number after the last case
   */
  public static long[] between(long first, long end) {
    long count = Math.max(0, end - first);
    long wanted = Math.max(LEAST, Math.round(count * Budget.shareOfOrders()));
    if (wanted >= count) {
      return LongStream.range(first, end).toArray();
    }
    TreeSet<Long> chosen = new TreeSet<>();
    chosen.add(first);
    chosen.add(end - 1);
    Random random = Budget.random();
    while (chosen.size() < wanted) {
      chosen.add(first + random.nextLong(count));
    }
    return chosen.stream().mapToLong(Long::longValue).toArray();
  }
}
