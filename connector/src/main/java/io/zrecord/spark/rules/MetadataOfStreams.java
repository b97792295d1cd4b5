package io.zrecord.spark.rules;

import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.scan.ZRecordScan;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.runtime.BoxedUnit;

/**
 * Refuses metadata columns of a stream where Spark does not tell the source that it reads them: it
 * would take other columns for them. Spark tells from 4.2 on. Stateless.
 */
public final class MetadataOfStreams {
  private MetadataOfStreams() {}

  /**
   * Checks a plan.
   *
   * @throws UnsupportedOperationException if a stream has columns that its source does not read
   */
  public static BoxedUnit check(LogicalPlan plan) {
    if (plan.getClass().getSimpleName().startsWith("StreamingDataSourceV2")) {
      IntStream.range(0, plan.productArity())
          .mapToObj(plan::productElement)
          .filter(ZRecordScan.class::isInstance)
          .map(ZRecordScan.class::cast)
          .filter(scan -> scan.readSchema().length() != plan.schema().length())
          .findFirst()
          .ifPresent(scan -> {
            throw Unsupported.operation(
                "metadata columns of a stream on this Spark",
                "leave them out, or use Spark 4.2 or later");
          });
    }
    plan.mapChildren(child -> {
      check(child);
      return child;
    });
    return BoxedUnit.UNIT;
  }
}
