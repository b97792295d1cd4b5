/**
 * Rewrites of badly laid out tables: many small shards and chunks, dead bytes, other codecs than
 * wanted. A rebalance never changes the record that an index names.
 * {@link io.zrecord.rebalance.TableRelayout} writes a whole table in another order, which does
 * change indices, and leaves a map from the old indices to the new ones.
 *
 * <p>Nothing starts by itself. One commit replaces a group of shards, so finished groups are kept
 * if a run ends early. Earlier versions stay as they are until they are expired. Plans and options
 * are immutable; a run belongs to one thread, and starts threads of its own. Damaged values are a
 * {@link io.zrecord.errors.CorruptDataException}.
 *
 * <p>Start with {@link io.zrecord.rebalance.TableRebalance}. A cluster distributes the groups of a
 * {@link io.zrecord.rebalance.RebalancePlan} and runs {@link io.zrecord.rebalance.GroupRewriter} in
 * its tasks.
 */
@NullMarked
package io.zrecord.rebalance;

import org.jspecify.annotations.NullMarked;
