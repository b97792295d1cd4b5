/**
 * Readers of a store whose writer continues: a view of the published length, optimistic reads of
 * entries, and the pool that divides large gathers. Threads share views; a reader belongs to one
 * thread. A store without a writer that recovers it is a
 * {@link io.zrecord.errors.StoreAbandonedException}; damage is a
 * {@link io.zrecord.errors.CorruptDataException}. Start with
 * {@link io.zrecord.internal.store.read.StoreView}.
 */
@NullMarked
package io.zrecord.internal.store.read;

import org.jspecify.annotations.NullMarked;
