/**
 * The order that a relayout writes: a shuffle, or a sort by a field, and the map from old indices
 * to new indices. Orders are immutable, and arrangements are thread-safe; readers and writers of a
 * stored order belong to one thread. An order that does not fit the records is an
 * {@link java.lang.IllegalArgumentException}. Start with
 * {@link io.zrecord.rebalance.order.RecordOrder}.
 */
@NullMarked
package io.zrecord.rebalance.order;

import org.jspecify.annotations.NullMarked;
