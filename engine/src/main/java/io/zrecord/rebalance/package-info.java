/**
 * Rewrites what is badly laid out of a table: many small shards and chunks, dead bytes, other codecs than wanted. Which record an index
 * names never changes by that. Start with {@link io.zrecord.rebalance.Rebalance}; a cluster takes {@link io.zrecord.rebalance.RebalancePlan} apart
 * and runs {@link io.zrecord.rebalance.GroupRewriter} in its tasks. A store is rewritten whole, by {@link
 * io.zrecord.rebalance.StoreRebalance}.
 *
 * <p>{@link io.zrecord.rebalance.Relayout} writes a whole table in another order, which does change indices, and leaves a map from the old
 * ones to the new ones.
 *
 * <p>Nothing starts by itself. A group of shards is replaced by one commit, so that what a run finished is kept; versions before stay as they
 * are until they are expired.
 */
package io.zrecord.rebalance;
