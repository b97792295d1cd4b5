/**
 * The files of a shard and the places of its values. Writing and reading have subpackages. Open
 * shards are shared between threads; writers and readers belong to one thread. A missing, cut or
 * damaged file is a {@link io.zrecord.errors.ZRecordException} that names the file. Start with
 * {@link io.zrecord.internal.shard.OpenShard} for reading and
 * {@link io.zrecord.internal.shard.write.ColumnWriter} for writing.
 */
@NullMarked
package io.zrecord.internal.shard;

import org.jspecify.annotations.NullMarked;
