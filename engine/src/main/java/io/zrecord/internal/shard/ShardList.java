package io.zrecord.internal.shard;

import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/** The shards of a dataset in index order. Shards are opened on demand. Immutable. */
public final class ShardList {
  private final long[] firstIndices;
  private final List<Supplier<OpenShard>> shards;

  /**
   * Creates the list.
   *
   * @param lengths number of records of each shard
   */
  public ShardList(long[] lengths, List<Supplier<OpenShard>> shards) {
    this.shards = List.copyOf(shards);
    this.firstIndices = new long[lengths.length + 1];
    for (int i = 0; i < lengths.length; i++) {
      firstIndices[i + 1] = Math.addExact(firstIndices[i], lengths[i]);
    }
  }

  public int count() {
    return shards.size();
  }

  /** Returns the number of records of all shards. */
  public long length() {
    return firstIndices[firstIndices.length - 1];
  }

  public OpenShard open(int ordinal) {
    return shards.get(ordinal).get();
  }

  /** Returns the index of a shard's first record; for {@link #count} the length. */
  public long firstIndex(int ordinal) {
    return firstIndices[ordinal];
  }

  /** Returns the ordinal of the shard of a record. The index must be within the dataset. */
  public int shardOf(long index) {
    int found = Arrays.binarySearch(firstIndices, index);
    int ordinal = found >= 0 ? found : -found - 2;
    // Skips empty shards, which have the same first index as the shard after them.
    while (firstIndices[ordinal + 1] <= index) {
      ordinal++;
    }
    return ordinal;
  }

  /**
   * Checks that all indices are within the dataset.
   *
   * @throws IndexOutOfBoundsException if one is not
   */
  public void requireWithin(long[] indices) {
    for (long index : indices) {
      if (index < 0 || index >= length()) {
        throw outOfBounds(index);
      }
    }
  }

  public IndexOutOfBoundsException outOfBounds(long index) {
    return new IndexOutOfBoundsException("Index " + index + " is not within the dataset: it has "
        + length() + " records, 0 to " + (length() - 1));
  }
}
