/**
 * The writer of a shard, which is no part of a version before a commit names it. A writer belongs
 * to one thread. A value that its field does not allow is an
 * {@link java.lang.IllegalArgumentException}. Start with
 * {@link io.zrecord.table.write.ShardWriter}.
 */
@NullMarked
package io.zrecord.table.write;

import org.jspecify.annotations.NullMarked;
