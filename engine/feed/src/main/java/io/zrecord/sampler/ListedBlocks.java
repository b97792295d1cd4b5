package io.zrecord.sampler;

import io.zrecord.internal.random.Permutation;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Cuts an index space into blocks with given boundaries, such as the chunks of a dataset. Takes 8
 * bytes a block, and 24 for the order of the last epoch.
 */
final class ListedBlocks implements Blocks {
  private final long[] bounds;
  private volatile @Nullable ListedOrder last;

  /**
   * Keeps the array; the caller must not change it afterwards.
   *
   * @param bounds the first index of every block, and the length after them
   */
  ListedBlocks(long[] bounds) {
    if (bounds.length == 0 || bounds[0] != 0) {
      throw new IllegalArgumentException("Cannot sample: bounds begin with "
          + (bounds.length == 0 ? "nothing" : bounds[0])
          + "; give 0, the first index of every other block, and the length");
    }
    for (int i = 1; i < bounds.length; i++) {
      Checks.inRange(
          "bound " + i, bounds[i], bounds[i - 1] + 1, Checks.MAX_LENGTH, "bounds rise strictly");
    }
    this.bounds = bounds;
  }

  @Override
  public long count() {
    return bounds.length - 1L;
  }

  @Override
  public long length() {
    return bounds[bounds.length - 1];
  }

  @Override
  public Order order(long key) {
    ListedOrder known = last;
    if (known == null || known.key != key) {
      known = new ListedOrder(key);
      last = known;
    }
    return known;
  }

  private final class ListedOrder implements Order {
    private final long key;
    private final long[] blocks;
    private final long[] places;

    ListedOrder(long key) {
      this.key = key;
      int count = bounds.length - 1;
      this.blocks = new long[count];
      this.places = new long[count + 1];
      new Permutation(key, count).fill(0, 1, blocks, 0, count);
      for (int rank = 0; rank < count; rank++) {
        int block = (int) blocks[rank];
        places[rank + 1] = places[rank] + bounds[block + 1] - bounds[block];
      }
    }

    @Override
    public long rankAt(long place) {
      int found = Arrays.binarySearch(places, place);
      return found >= 0 ? found : -found - 2;
    }

    @Override
    public long firstPlace(long rank) {
      return places[(int) rank];
    }

    @Override
    public long firstIndex(long rank) {
      return bounds[(int) blocks[(int) rank]];
    }

    @Override
    public void locate(long[] values, int from, int count) {
      for (int i = from; i < from + count; i++) {
        long rank = rankAt(values[i]);
        values[i] += firstIndex(rank) - firstPlace(rank);
      }
    }
  }
}
