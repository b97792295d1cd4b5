package io.zrecord.spark.stream;

import io.zrecord.scan.ScanPlan;
import io.zrecord.scan.ScanPlan.ShardSlice;
import io.zrecord.scan.SplitSizing;
import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.spark.scan.ZRecordInputPartition;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.read.InputPartition;
import org.jspecify.annotations.Nullable;

/**
 * Divides the records of a batch, in the order of versions and indices. Versions with few records
 * share a task.
 */
final class StreamTasks implements BatchTasks {
  private static final long MIN_BYTES = 1L << 20;
  private static final long MAX_BYTES = 128L << 20;
  private static final int INDEX_BYTES = Long.BYTES;

  private final List<FieldSpec> fields;
  private final List<Part> splits = new ArrayList<>();
  private final int parallelism = SparkSession.active().sparkContext().defaultParallelism();
  private @Nullable TableLocation location;
  private long rows;

  StreamTasks(List<FieldSpec> fields) {
    this.fields = List.copyOf(fields);
  }

  @Override
  public void add(VersionRecords records, long from, long to) {
    location = TableLocation.of(records.version().storage());
    rows += to - from;
    ScanPlan.divide(
            records.version(),
            fields,
            records.between(from, to),
            new SplitSizing(0, 2 * parallelism, MIN_BYTES, MAX_BYTES))
        .forEach(
            split -> splits.add(new Part(withoutSizes(split), records.version().version())));
  }

  /**
   * Removes the sizes. A task plans nothing, and the sizes of thousands of fields would make the
   * task large, and the batch while it is planned.
   */
  private static ScanPlan.Split withoutSizes(ScanPlan.Split split) {
    List<ShardSlice> slices = split.slices().stream()
        .map(slice ->
            new ShardSlice(slice.shard().withoutSizes(), slice.firstIndex(), slice.indices()))
        .toList();
    return new ScanPlan.Split(slices, split.recordCount(), split.bytes());
  }

  private record Part(ScanPlan.Split split, long version) {
    long bytes() {
      return split.bytes();
    }
  }

  @Override
  public OptionalLong rows() {
    return OptionalLong.of(rows);
  }

  @Override
  public OptionalLong bytes() {
    long values = splits.stream().mapToLong(Part::bytes).sum();
    return OptionalLong.of(rows * INDEX_BYTES + values);
  }

  @Override
  public InputPartition[] divide() {
    long total = splits.stream().mapToLong(Part::bytes).sum();
    long enough = Math.max(MIN_BYTES, Math.min(MAX_BYTES, total / (2L * parallelism)));
    List<InputPartition> parts = new ArrayList<>();
    List<Part> together = new ArrayList<>();
    long bytes = 0;
    for (Part part : splits) {
      if (bytes > 0 && bytes + part.bytes() > enough) {
        parts.add(joined(together));
        together.clear();
        bytes = 0;
      }
      together.add(part);
      bytes += part.bytes();
    }
    if (!together.isEmpty()) {
      parts.add(joined(together));
    }
    return parts.toArray(InputPartition[]::new);
  }

  private ZRecordInputPartition joined(List<Part> parts) {
    List<ShardSlice> slices = new ArrayList<>();
    List<Long> versions = new ArrayList<>();
    for (Part part : parts) {
      slices.addAll(part.split().slices());
      versions.addAll(Collections.nCopies(part.split().slices().size(), part.version()));
    }
    return new ZRecordInputPartition(
        Objects.requireNonNull(location), 0, 0, List.copyOf(slices), List.copyOf(versions));
  }
}
