package io.zrecord.spark.changes;

import io.zrecord.changes.TableChanges;
import io.zrecord.spark.options.ReadConf;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.scan.ReadSettings;
import io.zrecord.spark.scan.ScanMetrics;
import io.zrecord.table.TableSnapshot;
import java.util.Optional;
import java.util.function.Function;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;

/** A scan of the changes of some versions. Lives on the driver. */
final class ChangesScan implements Scan, Batch {
  private final String location;
  private final ChangesTable table;
  private final TableSnapshot version;
  private final Optional<Part> part;
  private final StructType columns;
  private final ReadConf conf;
  private final Function<ReadSettings, MicroBatchStream> stream;

  /**
   * Some versions of a range.
   *
   * @param first the first version whose changes are told, in the range
   * @param last the last one
   */
  record Part(ChangesRange range, long first, long last) {
    String description() {
      return (range.isNet() ? ", each record once," : "") + " in versions " + first + " to " + last;
    }
  }

  /**
   * Makes a scan.
   *
   * @param part what a batch tells; empty if there is no range
   * @param stream opens the stream, if the scan is that of one
   */
  ChangesScan(
      String location,
      ChangesTable table,
      Optional<Part> part,
      StructType columns,
      ReadConf conf,
      Function<ReadSettings, MicroBatchStream> stream) {
    this.location = location;
    this.table = table;
    this.version = table.last();
    this.part = part;
    this.columns = columns;
    this.conf = conf;
    this.stream = stream;
  }

  @Override
  public StructType readSchema() {
    return columns;
  }

  @Override
  public String description() {
    return ZRecordOptions.FORMAT + " changes of " + location
        + part.map(Part::description).orElse("") + " " + columns.catalogString();
  }

  @Override
  public ColumnarSupportMode columnarSupportMode() {
    return ColumnarSupportMode.SUPPORTED;
  }

  @Override
  public Batch toBatch() {
    SparkErrors.done(() -> {
      conf.requireBatch();
      requirePart();
    });
    return this;
  }

  private Part requirePart() {
    return part.orElseThrow(table::withoutRange);
  }

  @Override
  public MicroBatchStream toMicroBatchStream(String checkpointLocation) {
    return SparkErrors.planned(() -> stream.apply(settings()));
  }

  private ReadSettings settings() {
    return ReadSettings.ofAll(columns, conf);
  }

  @Override
  public InputPartition[] planInputPartitions() {
    return SparkErrors.planned(() -> {
      Part told = requirePart();
      int parallelism = SparkSession.active().sparkContext().defaultParallelism();
      return told.range().isNet()
          ? new NetChangesPlan(version.storage(), ChangeTasks.fields(version, columns), parallelism)
              .between(told.range().from(), told.range().to())
          : byVersion(told, parallelism);
    });
  }

  private InputPartition[] byVersion(Part told, int parallelism) {
    ChangeTasks tasks = new ChangeTasks(version, columns, parallelism);
    if (told.first() <= told.last()) {
      TableChanges.of(version.storage()).between(told.first() - 1, told.last()).forEach(tasks::add);
    }
    return tasks.divide();
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return ChangeTasks.readers(version, settings());
  }

  @Override
  public CustomMetric[] supportedCustomMetrics() {
    return ScanMetrics.supported();
  }
}
