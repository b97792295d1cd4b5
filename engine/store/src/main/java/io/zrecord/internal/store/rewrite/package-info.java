/**
 * Rewrites of a whole store: new files next to the old ones, and a swap of the meta file. Belongs
 * to the calling thread. After a {@link io.zrecord.errors.DiskFullException} or a
 * {@link io.zrecord.errors.CorruptDataException} the store is as it was. Start with
 * {@link io.zrecord.internal.store.rewrite.StoreRewrite}.
 */
@NullMarked
package io.zrecord.internal.store.rewrite;

import org.jspecify.annotations.NullMarked;
