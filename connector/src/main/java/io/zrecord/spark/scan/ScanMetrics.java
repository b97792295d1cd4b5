package io.zrecord.spark.scan;

import io.zrecord.read.ReadMetrics;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomSumMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;

/**
 * The metrics of a scan in Spark's UI. Bytes read over bytes delivered is the read amplification.
 */
public final class ScanMetrics {
  private ScanMetrics() {}

  /** Returns all metrics of scans. */
  public static CustomMetric[] supported() {
    return new CustomMetric[] {
      new Records(),
      new RecordsSkipped(),
      new BytesRead(),
      new BytesDelivered(),
      new DecodeMillis(),
      new ChecksumFailures(),
      new ChunksOpened(),
      new Requests(),
      new BytesRequested(),
      new RequestMillis(),
      new ShardsPlanned(),
      new RangesPlanned()
    };
  }

  static CustomTaskMetric[] ofTask(long records, long skipped, ReadMetrics metrics) {
    return new CustomTaskMetric[] {
      new TaskMetric("records", records),
      new TaskMetric("recordsSkipped", skipped),
      new TaskMetric("bytesRead", metrics.bytesRead.sum()),
      new TaskMetric("bytesDelivered", metrics.bytesDelivered.sum()),
      new TaskMetric("decodeMillis", TimeUnit.NANOSECONDS.toMillis(metrics.decodeNanos.sum())),
      new TaskMetric("checksumFailures", metrics.checksumFailures.sum()),
      new TaskMetric("chunksOpened", metrics.chunksOpened.sum()),
      new TaskMetric("requests", metrics.requests.sum()),
      new TaskMetric("bytesRequested", metrics.bytesRequested.sum()),
      new TaskMetric("requestMillis", TimeUnit.NANOSECONDS.toMillis(metrics.waitNanos.sum()))
    };
  }

  static CustomTaskMetric[] ofPlan(long shards, long ranges) {
    return new CustomTaskMetric[] {
      new TaskMetric("shardsPlanned", shards), new TaskMetric("rangesPlanned", ranges)
    };
  }

  private abstract static class Sum extends CustomSumMetric {
    private final String name;
    private final String description;

    Sum(String name, String description) {
      this.name = name;
      this.description = description;
    }

    @Override
    public final String name() {
      return name;
    }

    @Override
    public final String description() {
      return "zrecord " + description;
    }
  }

  // Spark creates metrics by reflection: public classes, with constructors without parameters.

  public static final class Records extends Sum {
    public Records() {
      super("records", "records read");
    }
  }

  public static final class RecordsSkipped extends Sum {
    public RecordsSkipped() {
      super("recordsSkipped", "records skipped by conditions");
    }
  }

  public static final class BytesRead extends Sum {
    public BytesRead() {
      super("bytesRead", "bytes read from files");
    }
  }

  public static final class BytesDelivered extends Sum {
    public BytesDelivered() {
      super("bytesDelivered", "bytes of values delivered");
    }
  }

  public static final class DecodeMillis extends Sum {
    public DecodeMillis() {
      super("decodeMillis", "time to decompress (ms)");
    }
  }

  public static final class ChecksumFailures extends Sum {
    public ChecksumFailures() {
      super("checksumFailures", "checksums that did not hold");
    }
  }

  public static final class ChunksOpened extends Sum {
    public ChunksOpened() {
      super("chunksOpened", "chunk files opened");
    }
  }

  public static final class Requests extends Sum {
    public Requests() {
      super("requests", "requests for values");
    }
  }

  public static final class BytesRequested extends Sum {
    public BytesRequested() {
      super("bytesRequested", "bytes requested");
    }
  }

  public static final class RequestMillis extends Sum {
    public RequestMillis() {
      super("requestMillis", "time waited for requests (ms)");
    }
  }

  public static final class ShardsPlanned extends Sum {
    public ShardsPlanned() {
      super("shardsPlanned", "shards planned");
    }
  }

  public static final class RangesPlanned extends Sum {
    public RangesPlanned() {
      super("rangesPlanned", "index ranges planned");
    }
  }
}
