package io.zrecord.spark.scan;

import io.zrecord.RecordDataset;
import io.zrecord.feed.spec.SamplerSpec;
import io.zrecord.read.ReadMetrics;
import io.zrecord.spark.options.SamplerPart;
import io.zrecord.table.TableSnapshot;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Makes readers in the order of a sampler, always columnar. Takes the same few hundred bytes for
 * any number of records.
 */
final class SampledReaderFactory implements PartitionReaderFactory {
  private static final long serialVersionUID = 1L;

  private final SnapshotId dataset;
  private final SamplerSpec sampler;
  private final SamplerPart part;
  private final ReadSettings settings;

  /**
   * Keeps the files that are read from being removed, on the driver; see
   * {@link ZRecordReaderFactory}.
   */
  @SuppressWarnings({"unused", "UnusedVariable"})
  private final transient TableSnapshot snapshot;

  SampledReaderFactory(
      TableSnapshot snapshot, SamplerSpec sampler, SamplerPart part, ReadSettings settings) {
    this.dataset = SnapshotId.of(snapshot);
    this.sampler = sampler;
    this.part = part;
    this.settings = settings;
    this.snapshot = snapshot;
  }

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition partition) {
    throw new UnsupportedOperationException("zrecord is read in columnar batches only");
  }

  @Override
  public PartitionReader<ColumnarBatch> createColumnarReader(InputPartition partition) {
    OpenSamplers.Opened opened = OpenSamplers.of(dataset, sampler);
    RecordDataset.ReadOptions options =
        new RecordDataset.ReadOptions(settings.verification(), new ReadMetrics());
    return new SampledPartitionReader(
        (SampledInputPartition) partition,
        opened.snapshot(),
        RecordDataset.open(opened.snapshot(), options),
        part.of(sampler.cut(opened.sampler())),
        part.epoch(),
        settings);
  }

  @Override
  public boolean supportColumnarReads(InputPartition partition) {
    return true;
  }
}
