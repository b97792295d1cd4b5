package io.zrecord.store;

/**
 * The result of the rebalance of a store.
 *
 * @param before the store before the rebalance; without reasons, the store is unchanged
 * @param chunkBytesAfter bytes of the chunks afterwards
 * @param chunksAfter number of chunks afterwards
 */
public record StoreRebalanceResult(
    StoreRebalancePlan before, long chunkBytesAfter, int chunksAfter) {

  /** Tells whether the store was rewritten. */
  public boolean isRewritten() {
    return before.isWorthwhile();
  }
}
