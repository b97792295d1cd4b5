package io.zrecord.rebalance;

import io.zrecord.RecordDataset;
import org.jspecify.annotations.Nullable;

/** An order that was found by sorting, in memory. Thread-safe. */
final class SortedArrangement implements Arrangement {
  /** What an array can have. */
  private static final long MAX_RECORDS = Integer.MAX_VALUE - 8;

  /** A key, and twice a record. */
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
    // From the least significant word to the first: each pass keeps what the passes before did
    // among equals.
    for (int word = keys.wordCount() - 1; word >= 0; word--) {
      keys.fill(word, words);
      sort.sort(order, present);
    }
    return new SortedArrangement(order);
  }

  /** @param heapBytes that the process may have */
  static void requireRoom(RecordDataset dataset, String field, long heapBytes) {
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
