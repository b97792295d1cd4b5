/**
 * Scans of a table: the plan that divides records into splits, and the cursors that read a split
 * from its first record to its last. Plans are immutable; a cursor belongs to one thread.
 * Exceptions are those of reading. Start with {@link io.zrecord.scan.ScanPlan}.
 */
@NullMarked
package io.zrecord.scan;

import org.jspecify.annotations.NullMarked;
