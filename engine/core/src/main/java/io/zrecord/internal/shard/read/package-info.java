/**
 * Readers of sealed shards. A selection resolves records to places, then checks, decodes and copies
 * values. A reader belongs to one thread. Damaged values are a
 * {@link io.zrecord.errors.CorruptDataException}, cut files a
 * {@link io.zrecord.errors.TruncatedFileException}. Start with
 * {@link io.zrecord.internal.shard.read.ShardedFieldReader}.
 */
@NullMarked
package io.zrecord.internal.shard.read;

import org.jspecify.annotations.NullMarked;
