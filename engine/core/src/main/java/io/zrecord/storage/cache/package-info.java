/**
 * Keeps blocks of files that are read over a network on a local disk. A cache is a directory that
 * all processes of a machine share, and stays warm after a restart. Whatever happens to the
 * directory, a reader gets the bytes of the storage: a block that is missing or damaged is fetched
 * again. A failure of the local disk is counted and logged, never thrown. Classes are thread-safe.
 * Start with {@link io.zrecord.storage.cache.BlockCache}.
 */
@NullMarked
package io.zrecord.storage.cache;

import org.jspecify.annotations.NullMarked;
