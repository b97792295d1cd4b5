package io.zrecord.internal.store;

import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/** The shards of a dataset in index order. Immutable; shards are opened when they are asked for. */
public final class ShardList {
  private final long[] firstIndices;
  private final List<Supplier<OpenShard>> shards;

  /** @param lengths records of each shard */
  public ShardList(long[] lengths, List<Supplier<OpenShard>> shards) {
    this.shards = List.copyOf(shards);
    this.firstIndices = new long[lengths.length + 1];
    for (int i = 0; i < lengths.length; i++) {
      firstIndices[i + 1] = Math.addExact(firstIndices[i], lengths[i]);
    }
  }

  int count() {
    return shards.size();
  }

  /** Records of all shards. */
  public long length() {
    return firstIndices[firstIndices.length - 1];
  }

  OpenShard open(int ordinal) {
    return shards.get(ordinal).get();
  }

  /** Index of a shard's first record; with {@link #count} the length. */
  long firstIndex(int ordinal) {
    return firstIndices[ordinal];
  }

  /** Ordinal of the shard that holds the record, whose index is within the dataset. */
  int shardOf(long index) {
    int found = Arrays.binarySearch(firstIndices, index);
    int ordinal = found >= 0 ? found : -found - 2;
    // Behind empty shards, of which all but the last have the same first index.
    while (firstIndices[ordinal + 1] <= index) {
      ordinal++;
    }
    return ordinal;
  }

  /** Throws {@link IndexOutOfBoundsException} if an index is not within the dataset. */
  public void requireWithin(long[] indices) {
    for (long index : indices) {
      if (index < 0 || index >= length()) {
        throw outOfBounds(index);
      }
    }
  }

  IndexOutOfBoundsException outOfBounds(long index) {
    return new IndexOutOfBoundsException("Index " + index + " is not within the dataset: it has "
        + length() + " records, 0 to " + (length() - 1));
  }
}
