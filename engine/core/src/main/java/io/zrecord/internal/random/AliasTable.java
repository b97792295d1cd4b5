package io.zrecord.internal.random;

/**
 * Holds weights as a table of columns of equal height, each shared by at most two records: 12 bytes
 * a record, built once in O(records). All arithmetic after the rounding of the weights is on
 * integers, so that every language builds the same table (SAMPLERS.md section 8). Immutable.
 *
 * <p>Source: Walker (1977), Vose (1991), on integers.
 */
public final class AliasTable {
  /** Most bits of the total of all columns. */
  private static final int TOTAL_BITS = 62;

  private final int heightBits;
  private final long[] own;
  private final int[] other;

  public AliasTable(double[] weights) {
    int count = weights.length;
    int bits = Integer.SIZE - Integer.numberOfLeadingZeros(count - 1);
    this.heightBits = TOTAL_BITS - bits;
    this.own = shares(weights, (long) count << heightBits);
    this.other = new int[count];
    pair();
  }

  /** Returns the weights as integers with this sum: differences of the rounded running sums. */
  private static long[] shares(double[] weights, long total) {
    double sum = 0;
    for (int i = 0; i < weights.length; i++) {
      double weight = weights[i];
      if (!(weight >= 0 && weight < Double.POSITIVE_INFINITY)) {
        throw new IllegalArgumentException("Cannot sample: weight " + i + " is " + weight
            + ", which is not in [0, infinity); give 0 to leave a record out");
      }
      sum += weight;
    }
    if (!(sum > 0 && sum < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("Cannot sample: the sum of the " + weights.length
          + " weights is " + sum + "; it must be above 0 and finite: scale them");
    }
    long[] shares = new long[weights.length];
    double running = 0;
    long before = 0;
    for (int i = 0; i < weights.length; i++) {
      running += weights[i];
      long until = running >= sum ? total : Math.min(total, (long) (running / sum * total));
      shares[i] = until - before;
      before = until;
    }
    return shares;
  }

  /**
   * Fills columns below the height from columns above it: first in, first out, both in rising
   * order.
   */
  private void pair() {
    long height = 1L << heightBits;
    int count = own.length;
    int[] low = new int[count];
    int[] high = new int[count];
    int lows = 0;
    int highs = 0;
    for (int i = 0; i < count; i++) {
      other[i] = i;
      if (own[i] < height) {
        low[lows++] = i;
      } else {
        high[highs++] = i;
      }
    }
    int giver = 0;
    for (int next = 0; next < lows; next++) {
      int taker = low[next];
      int from = high[giver];
      other[taker] = from;
      own[from] -= height - own[taker];
      if (own[from] < height) {
        giver++;
        low[lows++] = from;
      }
    }
  }

  public int count() {
    return own.length;
  }

  /**
   * Replaces columns by records; the upper bits of {@code coins[i]} are the coin of
   * {@code columns[from + i]}.
   */
  public void pick(long[] coins, long[] columns, int from, int count) {
    int shift = Long.SIZE - heightBits;
    for (int i = 0; i < count; i++) {
      int column = (int) columns[from + i];
      columns[from + i] = (coins[i] >>> shift) < own[column] ? column : other[column];
    }
  }
}
