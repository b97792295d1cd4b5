package io.zrecord.sampler;

/** How an index space is cut into blocks, and their order in an epoch. Immutable. */
interface Blocks {
  /** Number of blocks. */
  long count();

  /** Number of indices. */
  long length();

  /** The blocks one after the other in the order of a permutation. */
  Order order(long key);

  /**
   * Blocks in the order of one epoch: a rank is a place in that order, and a place counts indices
   * along it.
   */
  interface Order {
    /** Rank of the block that has a place. */
    long rankAt(long place);

    /** First place of the block at a rank; the length for the rank after the last. */
    long firstPlace(long rank);

    /** First index of the block at a rank. */
    long firstIndex(long rank);

    /** Replaces places by indices. */
    void locate(long[] places, int from, int count);
  }
}
