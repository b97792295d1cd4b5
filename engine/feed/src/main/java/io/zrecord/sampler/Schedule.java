package io.zrecord.sampler;

import io.zrecord.internal.random.Wide;

/**
 * Says whose turn it is among sources of given rates (SAMPLERS.md section 9). Turn {@code j} of a
 * source of rate {@code w} is due at time {@code (2j + 1) / w}. The earliest turn goes first, and
 * of equal times that of the source with the lower number. After any number of turns, a source has
 * had its part of them within ½ + (number of sources · its part) / 2. For one thread; exact.
 *
 * <p>Source: the apportionment of Webster and Sainte-Laguë.
 */
final class Schedule {
  private final long[] rates;
  private final long[] taken;
  private final int[] heap;
  private int size;

  /**
   * Finds the state after {@code position} turns, in O(sources · log sources).
   *
   * @param rates at least 0, not all of them 0
   * @param total the sum of the rates, at most 2⁶²
   * @param position in {@code [0, total)}
   */
  Schedule(long[] rates, long total, long position) {
    this.rates = rates;
    this.taken = new long[rates.length];
    this.heap = new int[rates.length];
    long sure = Math.max(0, position - rates.length / 2 - 1);
    long count = 0;
    for (int source = 0; source < rates.length; source++) {
      if (rates[source] > 0) {
        taken[source] = (Wide.multiplyDivide(2 * sure, rates[source], total) + 1) / 2;
        count += taken[source];
        heap[size++] = source;
      }
    }
    for (int i = size / 2 - 1; i >= 0; i--) {
      sink(i);
    }
    for (; count < position; count++) {
      next();
    }
  }

  /** Returns the number of turns that a source has had. */
  long taken(int source) {
    return taken[source];
  }

  /** Returns the source of the next turn, and counts the turn. */
  int next() {
    int source = heap[0];
    taken[source]++;
    sink(0);
    return source;
  }

  private void sink(int start) {
    int source = heap[start];
    int place = start;
    while (2 * place + 1 < size) {
      int child = 2 * place + 1;
      if (child + 1 < size && before(heap[child + 1], heap[child])) {
        child++;
      }
      if (!before(heap[child], source)) {
        break;
      }
      heap[place] = heap[child];
      place = child;
    }
    heap[place] = source;
  }

  private boolean before(int one, int other) {
    int order =
        Wide.compareProducts(2 * taken[one] + 1, rates[other], 2 * taken[other] + 1, rates[one]);
    return order < 0 || (order == 0 && one < other);
  }
}
