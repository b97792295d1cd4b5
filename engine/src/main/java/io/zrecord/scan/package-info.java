/**
 * Reading: sets of indices, the reader of one field, and what it counts. Index sets are immutable; a
 * field reader belongs to one thread. Start with {@link io.zrecord.table.ScanPlan}.
 */
@NullMarked
package io.zrecord.scan;

import org.jspecify.annotations.NullMarked;
