package io.zrecord.spark.scan;

import org.apache.spark.sql.connector.metric.CustomTaskMetric;

/**
 * The value of a metric that a task reports.
 *
 * @param name name of the metric
 * @param value value in the metric's unit
 */
public record TaskMetric(String name, long value) implements CustomTaskMetric {}
