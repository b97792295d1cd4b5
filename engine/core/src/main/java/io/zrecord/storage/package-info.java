/**
 * The interface between the engine and a file system, and the local implementation. Storages are
 * thread-safe; the files that they hand out belong to one thread unless they say otherwise. Errors
 * are {@link io.zrecord.errors.ZRecordException}s that name the full path. Start with
 * {@link io.zrecord.storage.Storage}.
 */
@NullMarked
package io.zrecord.storage;

import org.jspecify.annotations.NullMarked;
