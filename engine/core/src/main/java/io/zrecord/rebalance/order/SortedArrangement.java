package io.zrecord.rebalance.order;

import io.zrecord.RecordDataset;
import org.jspecify.annotations.Nullable;

/** An order found by sorting, in memory. Thread-safe. */
public final class SortedArrangement implements Arrangement {
  /** Longest array that the JVM allocates. */
  private static final long MAX_RECORDS = Integer.MAX_VALUE - 8;

  /** Memory of a record while sorting: a key, and the record twice. */
  static final int BYTES_PER_RECORD = Long.BYTES + 2 * Integer.BYTES;

  private final int[] olds;
  private int @Nullable [] news;

  private SortedArrangement(int[] olds) {
    this.olds = olds;
  }

  static SortedArrangement of(RecordDataset dataset, String field, Direction direction) {
    SortKeys keys = SortKeys.of(dataset.reader(field), dataset.length(), direction);
    requireRoom(dataset, field, Runtime.getRuntime().maxMemory());
    int length = (int) dataset.length();
    int[] order = new int[length];
    int present = keys.scan(order);
    long[] words = new long[length];
    RadixSort sort = new RadixSort(words, new int[length]);
    // From the least significant word to the first: each pass keeps the order of earlier passes
    // among equal keys.
    for (int word = keys.wordCount() - 1; word >= 0; word--) {
      keys.fill(word, words);
      sort.sort(order, present);
    }
    return new SortedArrangement(order);
  }

  /**
   * Refuses a dataset whose order does not fit the heap.
   *
   * @param heapBytes heap that the process may use
   * @throws IllegalArgumentException if the dataset has too many records
   */
  public static void requireRoom(RecordDataset dataset, String field, long heapBytes) {
    if (dataset.length() > MAX_RECORDS) {
      throw new IllegalArgumentException(
          "Cannot order " + dataset + " by '" + field + "': it has " + dataset.length()
              + " records, and at most " + MAX_RECORDS + " can be ordered by a field; shuffle it");
    }
    long bytes = dataset.length() * BYTES_PER_RECORD;
    if (bytes > heapBytes / 4 * 3) {
      throw new IllegalArgumentException("Cannot order " + dataset + " by '" + field + "': its "
          + dataset.length() + " records take " + bytes + " bytes of heap, " + BYTES_PER_RECORD
          + " each, which is more than three quarters of the " + heapBytes
          + " that there are; give more with -Xmx");
    }
  }

  @Override
  public long length() {
    return olds.length;
  }

  @Override
  public void oldIndices(long firstNewIndex, long[] target, int count) {
    for (int i = 0; i < count; i++) {
      target[i] = olds[(int) firstNewIndex + i];
    }
  }

  @Override
  public void newIndices(long firstOldIndex, long[] target, int count) {
    int[] inverse = inverse();
    for (int i = 0; i < count; i++) {
      target[i] = inverse[(int) firstOldIndex + i];
    }
  }

  private synchronized int[] inverse() {
    int[] inverse = news;
    if (inverse == null) {
      inverse = new int[olds.length];
      for (int i = 0; i < olds.length; i++) {
        inverse[olds[i]] = i;
      }
      news = inverse;
    }
    return inverse;
  }
}
