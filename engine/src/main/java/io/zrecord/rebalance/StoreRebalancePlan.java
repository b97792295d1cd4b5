package io.zrecord.rebalance;

import java.util.Set;

/**
 * How a store is used, and whether it is worth rewriting. Beside a writer it is that of the last checkpoint, about.
 *
 * @param reasons why it would be rewritten; empty: it would not
 * @param records that it has
 * @param valueBytes stored bytes of their values
 * @param utilization which part of its chunk bytes is alive, 0 to 1
 * @param chunkBytes bytes of its chunks
 * @param chunks their number
 * @param scatteredValues values that stand before those of the record before, which a sequential scan jumps back to
 * @param neededBytes space that new chunks and tables take beside the old ones; more if a field loses its compression
 */
public record StoreRebalancePlan(
    Set<Reason> reasons,
    long records,
    long valueBytes,
    double utilization,
    long chunkBytes,
    int chunks,
    long scatteredValues,
    long neededBytes) {

  /** What makes a store worth rewriting. */
  public enum Reason {
    /** Too many of its bytes are dead. */
    SPARSE,
    /** It has more than twice as many chunks as it needs, and four. */
    SMALL_CHUNKS,
    /** A field has another codec than asked for. */
    COMPRESSION
  }

  public StoreRebalancePlan {
    reasons = Set.copyOf(reasons);
  }

  /** Whether there is something to do. */
  public boolean isWorthwhile() {
    return !reasons.isEmpty();
  }
}
