package io.zrecord.spark.changes;

import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.scan.ReadSettings;
import io.zrecord.spark.scan.TaskMetric;
import io.zrecord.spark.scan.WiderTypes;
import io.zrecord.spark.scan.ZRecordInputPartition;
import io.zrecord.spark.scan.ZRecordPartitionReader;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.execution.vectorized.ConstantColumnVector;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;

/** Reads changed records, part by part, each with what its rows say. Belongs to one task. */
final class ChangesReader implements PartitionReader<ColumnarBatch> {
  private static final String REMEDY = "leave the column out, read the changes up to a version of"
      + " the wider type, or start a stream with a new checkpoint";

  private final ChangesPartition partition;
  private final StructType columns;
  private final RecordSchema fields;
  private final ReadSettings settings;
  private final Deque<ChangeSegment> segments = new ArrayDeque<>();
  private final Map<String, Long> metrics = new HashMap<>();
  private int nextPart;
  private @Nullable ChangeSegment segment;
  private @Nullable ZRecordPartitionReader records;

  ChangesReader(
      ChangesPartition partition, StructType columns, RecordSchema fields, ReadSettings settings) {
    this.partition = partition;
    this.columns = columns;
    this.fields = fields;
    this.settings = settings;
  }

  @Override
  public boolean next() {
    while (records == null || !records.next()) {
      closeRecords();
      while (segments.isEmpty()) {
        if (nextPart == partition.parts().size()) {
          return false;
        }
        segments.addAll(
            partition.parts().get(nextPart++).segments(partition.location().storage()));
      }
      open(segments.remove());
    }
    return true;
  }

  private void open(ChangeSegment next) {
    segment = next;
    records = new ZRecordPartitionReader(
        new ZRecordInputPartition(
            partition.location(), 0, 0, List.of(next.slice()), next.version()),
        fields,
        settings.of(wider(next.version())));
  }

  private WiderTypes wider(long version) {
    String location = partition.location().storage().location();
    return new WiderTypes(
        location, "read what version " + version + " of " + location + " changed", REMEDY);
  }

  @Override
  public ColumnarBatch get() {
    if (records == null || segment == null) {
      throw new IllegalStateException("There is no batch before next()");
    }
    ColumnarBatch batch = records.get();
    ColumnVector[] vectors = new ColumnVector[columns.length()];
    int ofTable = 0;
    for (int i = 0; i < vectors.length; i++) {
      StructField column = columns.apply(i);
      vectors[i] = ChangeColumns.NAMES.contains(column.name())
          ? constant(column, batch.numRows(), segment)
          : batch.column(ofTable++);
    }
    return new ColumnarBatch(vectors, batch.numRows());
  }

  private static ColumnVector constant(StructField column, int rows, ChangeSegment segment) {
    ConstantColumnVector constant = new ConstantColumnVector(rows, column.dataType());
    switch (column.name()) {
      case ChangeColumns.TYPE ->
        constant.setUtf8String(UTF8String.fromString(segment.type().text()));
      case ChangeColumns.VERSION -> constant.setLong(segment.version());
      default -> constant.setLong(segment.micros());
    }
    return constant;
  }

  @Override
  public CustomTaskMetric[] currentMetricsValues() {
    Map<String, Long> all = new HashMap<>(metrics);
    add(all);
    return all.entrySet().stream()
        .map(metric -> new TaskMetric(metric.getKey(), metric.getValue()))
        .toArray(CustomTaskMetric[]::new);
  }

  /** Adds what the current reader has measured. */
  private void add(Map<String, Long> all) {
    if (records != null) {
      for (CustomTaskMetric metric : records.currentMetricsValues()) {
        all.merge(metric.name(), metric.value(), Long::sum);
      }
    }
  }

  private void closeRecords() {
    if (records != null) {
      add(metrics);
      records.close();
      records = null;
    }
  }

  @Override
  public void close() {
    closeRecords();
  }
}
