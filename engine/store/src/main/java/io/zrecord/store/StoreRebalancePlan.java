package io.zrecord.store;

import java.util.Set;

/**
 * How a store is used, and whether it is worth rewriting. While a writer is active, the plan is
 * approximately that of the last checkpoint.
 *
 * @param reasons why the store would be rewritten; empty if it would not be
 * @param records number of records
 * @param valueBytes stored bytes of the values
 * @param utilization share of the chunk bytes that is alive, 0 to 1
 * @param chunkBytes bytes of the chunks
 * @param chunks number of chunks
 * @param scatteredValues values stored before the values of the preceding record, to which a
 *     sequential scan jumps back
 * @param neededBytes space for new chunks and tables next to the old ones; more if a field loses
 *     its compression
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

  /** A reason to rewrite a store. */
  public enum Reason {
    /** Too many of the store's bytes are dead. */
    SPARSE,
    /** The store has more chunks than twice the needed number plus four. */
    SMALL_CHUNKS,
    /** A field has another codec than asked for. */
    COMPRESSION
  }

  public StoreRebalancePlan {
    reasons = Set.copyOf(reasons);
  }

  /** Tells whether there is something to do. */
  public boolean isWorthwhile() {
    return !reasons.isEmpty();
  }
}
