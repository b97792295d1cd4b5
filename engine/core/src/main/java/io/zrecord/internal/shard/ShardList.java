package io.zrecord.internal.shard;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** The shards of a dataset in index order. Shards are opened on demand. Immutable. */
public final class ShardList {
  private final Bounds bounds;
  private final IntFunction<OpenShard> opening;

  /** Says which records each shard has. Thread-safe. */
  public interface Bounds {
    int count();

    /** Returns the number of records of all shards. */
    long length();

    /** Returns the index of a shard's first record; for {@link #count} the length. */
    long firstIndex(int ordinal);

    /** Returns the ordinal of the shard of a record. The index must be within the dataset. */
    int shardOf(long index);
  }

  /**
   * Creates the list.
   *
   * @param opening opens the shard of an ordinal
   */
  public ShardList(Bounds bounds, IntFunction<OpenShard> opening) {
    this.bounds = bounds;
    this.opening = opening;
  }

  /**
   * Creates the list.
   *
   * @param lengths number of records of each shard
   */
  public ShardList(long[] lengths, List<Supplier<OpenShard>> shards) {
    this(new KnownLengths(lengths), ordinal -> shards.get(ordinal).get());
  }

  public int count() {
    return bounds.count();
  }

  /** Returns the number of records of all shards. */
  public long length() {
    return bounds.length();
  }

  public OpenShard open(int ordinal) {
    return opening.apply(ordinal);
  }

  /** Returns the index of a shard's first record; for {@link #count} the length. */
  public long firstIndex(int ordinal) {
    return bounds.firstIndex(ordinal);
  }

  /** Returns the ordinal of the shard of a record. The index must be within the dataset. */
  public int shardOf(long index) {
    return bounds.shardOf(index);
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

  /** Bounds of shards that are all known. */
  private static final class KnownLengths implements Bounds {
    private final long[] firstIndices;

    KnownLengths(long[] lengths) {
      this.firstIndices = new long[lengths.length + 1];
      for (int i = 0; i < lengths.length; i++) {
        firstIndices[i + 1] = Math.addExact(firstIndices[i], lengths[i]);
      }
    }

    @Override
    public int count() {
      return firstIndices.length - 1;
    }

    @Override
    public long length() {
      return firstIndices[firstIndices.length - 1];
    }

    @Override
    public long firstIndex(int ordinal) {
      return firstIndices[ordinal];
    }

    @Override
    public int shardOf(long index) {
      int found = Arrays.binarySearch(firstIndices, index);
      int ordinal = found >= 0 ? found : -found - 2;
      // Skips empty shards, which have the same first index as the shard after them.
      while (firstIndices[ordinal + 1] <= index) {
        ordinal++;
      }
      return ordinal;
    }
  }
}
