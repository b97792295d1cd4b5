package io.zrecord.spark.path;

import java.util.List;
import org.apache.spark.sql.connector.expressions.Transform;

/** Makes refusals that several roles share. */
public final class Unsupported {
  private Unsupported() {}

  public static void refusePartitioning(Transform[] partitioning) {
    if (partitioning.length > 0) {
      throw new IllegalArgumentException(
          "Cannot partition a zrecord dataset by " + partitioning[0].describe()
              + ": its records are in the order of their index; leave PARTITIONED BY / partitionBy out");
    }
  }

  public static void refusePartitioning(List<Transform> partitioning) {
    refusePartitioning(partitioning.toArray(Transform[]::new));
  }

  public static UnsupportedOperationException operation(String what, String remedy) {
    return new UnsupportedOperationException("zrecord does not support " + what + "; " + remedy);
  }
}
