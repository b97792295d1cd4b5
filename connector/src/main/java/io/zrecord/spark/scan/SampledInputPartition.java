package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * The part of a sampler's order that one task reads. The task asks the sampler for the records.
 *
 * @param positions positions of the order
 */
record SampledInputPartition(IndexSet positions) implements InputPartition {}
