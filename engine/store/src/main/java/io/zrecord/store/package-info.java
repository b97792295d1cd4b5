/**
 * Stores that are written online, on one machine, while others read them. Stores and their readers
 * are thread-safe. What a commit acknowledged survives the end of the process and loss of power.
 * Failures of storage and data are {@link io.zrecord.errors.ZRecordException}s that name the
 * resource. Start with {@link io.zrecord.store.RecordStore} for writing and
 * {@link io.zrecord.store.StoreReader} for reading. {@link io.zrecord.store.StoreSnapshot} makes
 * tables of stores, and {@link io.zrecord.store.StoreRebalance} rewrites a store as a whole.
 */
@NullMarked
package io.zrecord.store;

import org.jspecify.annotations.NullMarked;
