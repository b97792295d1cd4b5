package io.zrecord.spark.changes;

import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.options.ReadConf;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.scan.IndexOrder;
import io.zrecord.spark.scan.ReadSettings;
import io.zrecord.spark.scan.ScanMetrics;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.types.StructType;

/** A scan of the changes of some versions. Lives on the driver. */
final class ChangesScan implements Scan, Batch {
  private final ChangesRange range;
  private final long first;
  private final long last;
  private final StructType columns;
  private final ReadConf conf;

  /**
   * Makes a scan.
   *
   * @param first the first version whose changes are told, in the range
   * @param last the last one
   */
  ChangesScan(ChangesRange range, long first, long last, StructType columns, ReadConf conf) {
    this.range = range;
    this.first = first;
    this.last = last;
    this.columns = columns;
    this.conf = conf;
  }

  @Override
  public StructType readSchema() {
    return columns;
  }

  @Override
  public String description() {
    return ZRecordOptions.FORMAT + " changes of " + range.to().storage().location()
        + (range.isNet() ? ", each record once," : "") + " in versions " + first + " to " + last
        + " " + columns.catalogString();
  }

  @Override
  public Batch toBatch() {
    return this;
  }

  @Override
  public InputPartition[] planInputPartitions() {
    return SparkErrors.planned(() -> {
      ChangesPlan plan = new ChangesPlan(
          range.to().storage(),
          fields(),
          SparkSession.active().sparkContext().defaultParallelism());
      return range.isNet() ? plan.net(range.from(), range.to()) : plan.byVersion(first - 1, last);
    });
  }

  private RecordSchema fields() {
    return IndexOrder.fields(range.to(), ChangeColumns.ofTable(columns));
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    StructType ofTable = ChangeColumns.ofTable(columns);
    return new ChangesReaderFactory(
        columns, fields(), ReadSettings.ofAll(ofTable, conf).bare());
  }

  @Override
  public CustomMetric[] supportedCustomMetrics() {
    return ScanMetrics.supported();
  }
}
