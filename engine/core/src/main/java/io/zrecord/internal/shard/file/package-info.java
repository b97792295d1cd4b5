/**
 * The files of a shard: tables and chunks (FORMAT.md sections 3 and 6). Immutable and thread-safe.
 * A missing, cut or damaged file is a {@link io.zrecord.errors.ZRecordException} that names the
 * file. Start with {@link io.zrecord.internal.shard.file.TablesFile}.
 */
@NullMarked
package io.zrecord.internal.shard.file;

import org.jspecify.annotations.NullMarked;
