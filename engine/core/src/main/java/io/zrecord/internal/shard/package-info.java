/**
 * A shard that is open, and the places of its values. Files, layouts and fetches have subpackages,
 * and so have reading and writing. Open shards are shared between threads. A missing, cut or
 * damaged file is a {@link io.zrecord.errors.ZRecordException} that names the file. Start with
 * {@link io.zrecord.internal.shard.OpenShard}.
 */
@NullMarked
package io.zrecord.internal.shard;

import org.jspecify.annotations.NullMarked;
