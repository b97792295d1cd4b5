package io.zrecord.spark.rows;

import io.zrecord.spark.scan.TaskMetric;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomSumMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;

/** The metrics of a change of records in Spark's UI. */
final class RowMetrics {
  private RowMetrics() {}

  static CustomMetric[] supported() {
    return new CustomMetric[] {
      new RecordsDeleted(), new RecordsUpdated(), new RecordsMoved(), new RecordsInserted()
    };
  }

  static CustomTaskMetric[] values(long deleted, long updated, long moved, long inserted) {
    return new CustomTaskMetric[] {
      new TaskMetric(RecordsDeleted.NAME, deleted),
      new TaskMetric(RecordsUpdated.NAME, updated),
      new TaskMetric(RecordsMoved.NAME, moved),
      new TaskMetric(RecordsInserted.NAME, inserted)
    };
  }

  /**
   * Records deleted. Spark creates metrics by reflection: public, with a constructor without
   * parameters.
   */
  public static final class RecordsDeleted extends CustomSumMetric {
    static final String NAME = "recordsDeleted";

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public String description() {
      return "zrecord records deleted";
    }
  }

  /** Records of which some values were changed. */
  public static final class RecordsUpdated extends CustomSumMetric {
    static final String NAME = "recordsUpdated";

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public String description() {
      return "zrecord records updated";
    }
  }

  /** Records that an update took to another partition. */
  public static final class RecordsMoved extends CustomSumMetric {
    static final String NAME = "recordsMoved";

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public String description() {
      return "zrecord records moved to other partitions";
    }
  }

  /** New records. */
  public static final class RecordsInserted extends CustomSumMetric {
    static final String NAME = "recordsInserted";

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public String description() {
      return "zrecord records inserted";
    }
  }
}
