/**
 * Measurements against peers, as programs; nothing here is deployed or asserted. Start with
 * {@link io.zrecord.benchmarks.SparkBenchmark}.
 */
@NullMarked
package io.zrecord.benchmarks;

import org.jspecify.annotations.NullMarked;
