/**
 * The files of a shard: what writes them and what reads them. Writers belong to one thread; open shards are shared. Start with
 * {@link io.zrecord.internal.store.ColumnWriter} for writing.
 */
@NullMarked
package io.zrecord.internal.store;

import org.jspecify.annotations.NullMarked;
