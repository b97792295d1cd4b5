/**
 * The storage on a local file system. Thread-safe. Errors are
 * {@link io.zrecord.errors.ZRecordException}s with advice for the errors of the operating system.
 * Start with {@link io.zrecord.storage.local.LocalStorage}.
 */
@NullMarked
package io.zrecord.storage.local;

import org.jspecify.annotations.NullMarked;
