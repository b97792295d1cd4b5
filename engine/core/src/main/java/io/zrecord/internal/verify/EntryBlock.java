package io.zrecord.internal.verify;

import io.zrecord.internal.format.Entry;

/** Entries of consecutive records of one field, with their checksums. Refilled for each block. */
public final class EntryBlock {
  /** Records in a block, which bounds the memory of a check. */
  static final int RECORDS = 1 << 16;

  public final long[] words;
  public final int[] checksums;
  public final boolean[] isMissing;
  private final Integer[] order;

  /** Allocates a block for at most {@code recordCount} records, because small shards are many. */
  EntryBlock(long recordCount) {
    int capacity = (int) Math.min(RECORDS, recordCount);
    words = new long[2 * capacity];
    checksums = new int[capacity];
    isMissing = new boolean[capacity];
    order = new Integer[capacity];
  }

  long word0(int k) {
    return words[2 * k];
  }

  long word1(int k) {
    return words[2 * k + 1];
  }

  public void put(int k, long word0, long word1, int checksum) {
    words[2 * k] = word0;
    words[2 * k + 1] = word1;
    checksums[k] = checksum;
    isMissing[k] = false;
  }

  /** Returns the first {@code count} entries in the order of their values on the disk. */
  Integer[] inDiskOrder(int count) {
    boolean isSorted = true;
    for (int k = 0; k < count; k++) {
      order[k] = k;
      isSorted &= k == 0 || compare(k - 1, k) <= 0;
    }
    if (!isSorted) {
      java.util.Arrays.sort(order, 0, count, this::compare);
    }
    return order;
  }

  private int compare(int a, int b) {
    int chunks = Integer.compareUnsigned(Entry.chunkId(word1(a)), Entry.chunkId(word1(b)));
    return chunks != 0 ? chunks : Long.compareUnsigned(word0(a), word0(b));
  }
}
