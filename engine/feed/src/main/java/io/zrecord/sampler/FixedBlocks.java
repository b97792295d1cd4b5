package io.zrecord.sampler;

import io.zrecord.internal.random.Lanes;
import io.zrecord.internal.random.Permutation;
import io.zrecord.internal.random.Scratch;

/**
 * Cuts an index space into blocks of one length, the last perhaps shorter; in constant memory.
 * Immutable.
 */
record FixedBlocks(long length, long blockLength) implements Blocks {
  @Override
  public long count() {
    return length == 0 ? 0 : (length - 1) / blockLength + 1;
  }

  @Override
  public Order order(long key) {
    return new FixedOrder(new Permutation(key, count()));
  }

  private final class FixedOrder implements Order {
    private final Permutation blocks;
    /**
     * Indices that the last block lacks; then the rank of that block, and the first place after it.
     */
    private final long missing;

    private final long shortRank;
    private final long behindShort;

    FixedOrder(Permutation blocks) {
      this.blocks = blocks;
      this.missing = count() * blockLength - length;
      this.shortRank = blocks.invert(count() - 1);
      this.behindShort = (shortRank + 1) * blockLength - missing;
    }

    @Override
    public long rankAt(long place) {
      return widened(place) / blockLength;
    }

    /** Returns the place that it would be if the last block were as long as the others. */
    private long widened(long place) {
      return place >= behindShort ? place + missing : place;
    }

    @Override
    public long firstPlace(long rank) {
      return rank * blockLength - (rank > shortRank ? missing : 0);
    }

    @Override
    public long firstIndex(long rank) {
      return blocks.apply(rank) * blockLength;
    }

    @Override
    public void locate(long[] places, int from, int count) {
      long[] ranks = Scratch.own().values;
      for (int done = 0; done < count; ) {
        int chunk = Lanes.next(count - done);
        int start = from + done;
        for (int i = 0; i < chunk; i++) {
          long place = widened(places[start + i]);
          ranks[i] = place / blockLength;
          places[start + i] = place - ranks[i] * blockLength;
        }
        blocks.map(ranks, 0, chunk);
        for (int i = 0; i < chunk; i++) {
          places[start + i] += ranks[i] * blockLength;
        }
        done += chunk;
      }
    }
  }
}
