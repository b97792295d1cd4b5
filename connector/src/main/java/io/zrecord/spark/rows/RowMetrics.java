package io.zrecord.spark.rows;

import io.zrecord.spark.scan.TaskMetric;
import java.util.Arrays;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomSumMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;

/** The metrics of a change of records in Spark's UI. */
final class RowMetrics {
  private RowMetrics() {}

  static CustomMetric[] supported() {
    return new CustomMetric[] {
      new RecordsDeleted(),
      new RecordsUpdated(),
      new RecordsMoved(),
      new RecordsInserted(),
      new ColumnsWritten(),
      new BytesUpdated(),
      new BytesUnassigned(),
      new ValuesCompared()
    };
  }

  static CustomTaskMetric[] ofRows(long deleted, long updated, long moved, long inserted) {
    return new CustomTaskMetric[] {
      new TaskMetric(RecordsDeleted.NAME, deleted),
      new TaskMetric(RecordsUpdated.NAME, updated),
      new TaskMetric(RecordsMoved.NAME, moved),
      new TaskMetric(RecordsInserted.NAME, inserted)
    };
  }

  static CustomTaskMetric[] ofValues(long columns, long bytes, long unassigned, long compared) {
    return new CustomTaskMetric[] {
      new TaskMetric(ColumnsWritten.NAME, columns),
      new TaskMetric(BytesUpdated.NAME, bytes),
      new TaskMetric(BytesUnassigned.NAME, unassigned),
      new TaskMetric(ValuesCompared.NAME, compared)
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

  /** The most columns of which a task has given values to records that stay. */
  public static final class ColumnsWritten implements CustomMetric {
    static final String NAME = "columnsWritten";

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public String description() {
      return "zrecord columns written in updated records";
    }

    @Override
    public String aggregateTaskMetrics(long[] ofTasks) {
      return Long.toString(Arrays.stream(ofTasks).max().orElse(0));
    }
  }

  /** Bytes of values that records got which stay where they are. */
  public static final class BytesUpdated extends CustomSumMetric {
    static final String NAME = "bytesUpdated";

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public String description() {
      return "zrecord bytes of values of updated records";
    }
  }

  /** Bytes of values that were written although not all of the statement assigns them. */
  public static final class BytesUnassigned extends CustomSumMetric {
    static final String NAME = "bytesUnassigned";

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public String description() {
      return "zrecord bytes written of columns that not every clause assigns";
    }
  }

  /** Values that were compared with those that are there. */
  public static final class ValuesCompared extends CustomSumMetric {
    static final String NAME = "valuesCompared";

    @Override
    public String name() {
      return NAME;
    }

    @Override
    public String description() {
      return "zrecord values compared with what is there";
    }
  }
}
