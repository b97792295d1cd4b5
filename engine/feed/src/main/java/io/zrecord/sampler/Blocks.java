package io.zrecord.sampler;

/** Cuts an index space into blocks, and orders them in an epoch. Immutable. */
interface Blocks {
  /** Returns the number of blocks. */
  long count();

  /** Returns the number of indices. */
  long length();

  /** Returns the blocks one after the other in the order of a permutation. */
  Order order(long key);

  /**
   * Orders blocks in one epoch: a rank is a place in that order, and a place counts indices along
   * it.
   */
  interface Order {
    /** Returns the rank of the block that has a place. */
    long rankAt(long place);

    /** Returns the first place of the block at a rank; the length for the rank after the last. */
    long firstPlace(long rank);

    /** Returns the first index of the block at a rank. */
    long firstIndex(long rank);

    /** Replaces places by indices. */
    void locate(long[] places, int from, int count);
  }
}
