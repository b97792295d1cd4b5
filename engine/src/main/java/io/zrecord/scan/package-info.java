/**
 * Reading: sets of indices, the plan that divides a scan, and the reader of one field. Index sets and plans are immutable; a
 * field reader belongs to one thread. Start with {@link io.zrecord.scan.ScanPlan}.
 */
@NullMarked
package io.zrecord.scan;

import org.jspecify.annotations.NullMarked;
