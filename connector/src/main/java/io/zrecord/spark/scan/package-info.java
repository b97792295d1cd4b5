/**
 * Reads of a table: what Spark pushes down becomes places in an order of records, places become
 * partitions, and partitions become columnar batches. Conditions on values travel to the readers,
 * which pass over records by statistics. A reader belongs to one task. Public to the rest of the
 * connector only. Start with {@link io.zrecord.spark.scan.ZRecordScanBuilder}.
 */
@NullMarked
package io.zrecord.spark.scan;

import org.jspecify.annotations.NullMarked;
