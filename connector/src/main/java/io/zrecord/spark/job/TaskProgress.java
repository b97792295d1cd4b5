package io.zrecord.spark.job;

import java.util.Properties;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import scala.PartialFunction;
import scala.Product;

/**
 * Reports how many records are written while a task of a rewrite runs. Executors report
 * accumulators with their heartbeats, by default every ten seconds. Each record is reported once,
 * whatever the number of attempts. Thread-safe.
 */
public final class TaskProgress extends SparkListener {
  private static final String DESCRIPTION = "spark.job.description";
  private static final int NONE = -1;

  private final String jobDescription;
  private final long accumulatorId;
  private final LongConsumer onRecords;
  private volatile int stageId = NONE;
  private long toldRecords;

  /**
   * Creates the progress of one job, whose task is alone in its stage.
   *
   * @param jobDescription description that no other job has at the same time
   * @param accumulatorId id of the accumulator that counts records
   * @param onRecords takes the number of records written since the last call
   */
  public TaskProgress(String jobDescription, long accumulatorId, LongConsumer onRecords) {
    this.jobDescription = jobDescription;
    this.accumulatorId = accumulatorId;
    this.onRecords = onRecords;
  }

  @Override
  public void onStageSubmitted(SparkListenerStageSubmitted event) {
    Properties properties = event.properties();
    if (properties != null && jobDescription.equals(properties.getProperty(DESCRIPTION))) {
      stageId = event.stageInfo().stageId();
    }
  }

  /**
   * Reads the counts of a heartbeat. The event has sequences of Scala, whose type differs between
   * releases of Scala; the traits used here are the same in all.
   */
  @Override
  public void onExecutorMetricsUpdate(SparkListenerExecutorMetricsUpdate event) {
    forEach(event.productElement(1), update -> {
      Product ofTask = (Product) update;
      if (ofTask.productElement(1).equals(stageId)) {
        forEach(ofTask.productElement(3), info -> add((AccumulableInfo) info));
      }
    });
  }

  @SuppressWarnings("unchecked")
  private static void forEach(Object sequence, Consumer<Object> action) {
    PartialFunction<Object, Object> items = (PartialFunction<Object, Object>) sequence;
    for (int i = 0; items.isDefinedAt(i); i++) {
      action.accept(items.apply(i));
    }
  }

  private void add(AccumulableInfo info) {
    if (info.id() == accumulatorId
        && info.update().isDefined()
        && info.update().get() instanceof Long records) {
      tell(records);
    }
  }

  /**
   * Reports that {@code doneRecords} records are done, if they are more than before: another
   * attempt starts at 0 again.
   */
  public synchronized void tell(long doneRecords) {
    if (doneRecords > toldRecords) {
      onRecords.accept(doneRecords - toldRecords);
      toldRecords = doneRecords;
    }
  }
}
