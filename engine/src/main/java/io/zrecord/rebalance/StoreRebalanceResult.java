package io.zrecord.rebalance;

/**
 * What the rebalance of a store did.
 *
 * @param before the store as it was; with no reasons it still is
 * @param chunkBytesAfter bytes of its chunks
 * @param chunksAfter their number
 */
public record StoreRebalanceResult(
    StoreRebalancePlan before, long chunkBytesAfter, int chunksAfter) {

  /** Whether the store was rewritten. */
  public boolean isRewritten() {
    return before.isWorthwhile();
  }
}
