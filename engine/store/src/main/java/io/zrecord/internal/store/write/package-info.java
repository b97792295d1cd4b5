/**
 * Writers of a store: values go to chunks, and groups of changes to the journal and the tables.
 * Opening a store recovers the commits of its last writer. Operations are thread-safe. After a
 * {@link io.zrecord.errors.DiskFullException} the next commit tries again; after any other failure
 * of a commit the writer is unusable. Start with
 * {@link io.zrecord.internal.store.write.StoreWriter}.
 */
@NullMarked
package io.zrecord.internal.store.write;

import org.jspecify.annotations.NullMarked;
