package io.zrecord.spark.scan;

import org.apache.spark.sql.connector.metric.CustomTaskMetric;

/**
 * The value that a task reports of a metric.
 *
 * @param name of the metric
 * @param value in the metric's unit
 */
public record TaskMetric(String name, long value) implements CustomTaskMetric {}
