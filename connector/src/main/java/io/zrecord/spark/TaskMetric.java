package io.zrecord.spark;

import org.apache.spark.sql.connector.metric.CustomTaskMetric;

/**
 * The value that a task reports of a metric.
 *
 * @param name of the metric
 * @param value in the metric's unit
 */
record TaskMetric(String name, long value) implements CustomTaskMetric {}
