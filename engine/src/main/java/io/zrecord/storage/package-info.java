/**
 * The interface that file systems implement, and the local one. Start with {@link io.zrecord.storage.Storage}. Storages are
 * thread-safe; errors are {@link io.zrecord.errors.ZRecordException}s.
 */
@NullMarked
package io.zrecord.storage;

import org.jspecify.annotations.NullMarked;
