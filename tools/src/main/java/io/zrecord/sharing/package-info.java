/**
 * Transfer of a feed's batches to another process on the same machine, without copies. Loaders put
 * values into memory that both processes map, and only short messages are sent. The Python package
 * is fed in this way. A shared file is thread-safe; one thread sends. A full memory is a
 * {@link io.zrecord.errors.DiskFullException}. Start with {@link io.zrecord.sharing.SharedBatches}.
 */
@NullMarked
package io.zrecord.sharing;

import org.jspecify.annotations.NullMarked;
