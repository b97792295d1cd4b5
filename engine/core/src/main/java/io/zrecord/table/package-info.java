/**
 * Tables: immutable shards, one manifest a version, and the commit that publishes a version
 * (FORMAT.md section 7). Also the care of a table: tags, expiry and sweeps. Snapshots and summaries
 * are immutable. Another commit in the way is a {@link io.zrecord.errors.CommitConflictException};
 * after a {@link io.zrecord.errors.CommitOutcomeUnknownException} nothing may be deleted. Start
 * with {@link io.zrecord.table.RecordTable}.
 */
@NullMarked
package io.zrecord.table;

import org.jspecify.annotations.NullMarked;
