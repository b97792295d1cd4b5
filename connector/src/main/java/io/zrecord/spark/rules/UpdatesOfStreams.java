package io.zrecord.spark.rules;

import io.zrecord.spark.catalog.ZRecordTable;
import io.zrecord.spark.path.Unsupported;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.streaming.OutputMode;
import scala.Option;
import scala.runtime.BoxedUnit;

/**
 * Refuses a stream in output mode update, and says what to do instead. Spark itself only says that
 * the table lacks the mode. Stateless.
 */
public final class UpdatesOfStreams {
  /** A class of Spark whose parameters differ between releases. */
  private static final String WRITE = "WriteToMicroBatchDataSource";

  private UpdatesOfStreams() {}

  /**
   * Checks a plan.
   *
   * @throws UnsupportedOperationException if the plan is of a batch of such a stream
   */
  public static BoxedUnit check(LogicalPlan plan) {
    if (!plan.getClass().getSimpleName().equals(WRITE)) {
      return BoxedUnit.UNIT;
    }
    Optional<ZRecordTable> target = IntStream.range(0, plan.productArity())
        .mapToObj(plan::productElement)
        .flatMap(element -> table(element).stream())
        .findFirst();
    boolean updates = IntStream.range(0, plan.productArity())
        .mapToObj(plan::productElement)
        .anyMatch(OutputMode.Update()::equals);
    if (target.isPresent() && updates) {
      throw Unsupported.operation(
          "output mode update of a stream into " + target.get().name(),
          "use foreachBatch with a MERGE, which says which records are updated, or output mode"
              + " append or complete");
    }
    return BoxedUnit.UNIT;
  }

  private static Optional<ZRecordTable> table(Object element) {
    if (element instanceof Option<?> option) {
      return option.isDefined() ? table(option.get()) : Optional.empty();
    }
    Object found = element instanceof DataSourceV2Relation relation ? relation.table() : element;
    return found instanceof ZRecordTable table ? Optional.of(table) : Optional.empty();
  }
}
