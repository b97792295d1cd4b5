package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * What one task reads in the order of a sampler; its records are known only when it asks the
 * sampler for them.
 *
 * @param positions of the order
 */
record SampledInputPartition(IndexSet positions) implements InputPartition {}
