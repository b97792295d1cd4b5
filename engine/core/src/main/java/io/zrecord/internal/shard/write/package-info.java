/**
 * Writers of a shard's files: stripes of values go to chunks, entries and runs go to tables. A
 * writer belongs to one thread. A full disk is a {@link io.zrecord.errors.DiskFullException}. Start
 * with {@link io.zrecord.internal.shard.write.ShardFilesWriter}.
 */
@NullMarked
package io.zrecord.internal.shard.write;

import org.jspecify.annotations.NullMarked;
