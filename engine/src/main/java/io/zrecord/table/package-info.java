/**
 * Tables: immutable shards, one manifest a version, and the commit that publishes a version (FORMAT.md section 7). Snapshots and
 * summaries are immutable; a shard writer belongs to one thread. Start with {@link io.zrecord.table.RecordTable}.
 */
@NullMarked
package io.zrecord.table;

import org.jspecify.annotations.NullMarked;
