/**
 * Options of reads and writes, parsed once and checked against the names that exist. Values are
 * immutable. Public to the rest of the connector only. Start with
 * {@link io.zrecord.spark.options.ZRecordOptions}.
 */
@NullMarked
package io.zrecord.spark.options;

import org.jspecify.annotations.NullMarked;
