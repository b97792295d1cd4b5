/**
 * Bytes of files in memory: maps of local files, and regions that are requested from a remote
 * storage, kept, shared and asked for ahead. Thread-safe. A request that fails is a
 * {@link io.zrecord.errors.ZRecordException} of whoever needs its bytes. Start with
 * {@link io.zrecord.internal.shard.fetch.Windows}.
 */
@NullMarked
package io.zrecord.internal.shard.fetch;

import org.jspecify.annotations.NullMarked;
