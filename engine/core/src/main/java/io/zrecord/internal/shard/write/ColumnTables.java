package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Binding;

/**
 * Where the tables of one field grow while its shard is written.
 *
 * @param spool of the shard
 * @param hasChecksums whether values have checksums
 * @param binding binds the checksums
 */
record ColumnTables(TableSpool spool, boolean hasChecksums, Binding binding) {}
