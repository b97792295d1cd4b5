package io.zrecord.spark.job;

import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkContext;

/** Says in a manifest which Spark application committed. */
public final class CommitProperties {
  private CommitProperties() {}

  /** Returns the properties of a commit: the application's id, name, user and Spark version. */
  public static Map<String, String> of(SparkContext spark) {
    Map<String, String> properties = new TreeMap<>();
    properties.put("applicationId", spark.applicationId());
    properties.put("applicationName", spark.appName());
    properties.put("user", spark.sparkUser());
    properties.put("sparkVersion", spark.version());
    return properties;
  }
}
