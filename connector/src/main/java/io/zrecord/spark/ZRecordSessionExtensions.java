package io.zrecord.spark;

import org.apache.spark.SparkEnv;
import org.apache.spark.sql.SparkSessionExtensions;
import org.apache.spark.sql.SparkSessionExtensionsProvider;
import scala.runtime.BoxedUnit;

/**
 * Registers the catalog {@code zrecord} when a session is made, so that SQL reaches datasets by path without any configuration.
 * Spark finds this class as a service. What a user has configured stays.
 */
public final class ZRecordSessionExtensions implements SparkSessionExtensionsProvider {
  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    SparkEnv environment = SparkEnv.get();
    if (environment != null) {
      environment
          .conf()
          .setIfMissing(
              "spark.sql.catalog." + ZRecordSource.SHORT_NAME, ZRecordCatalog.class.getName());
    }
    return BoxedUnit.UNIT;
  }
}
