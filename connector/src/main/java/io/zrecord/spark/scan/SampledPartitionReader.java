package io.zrecord.spark.scan;

import io.zrecord.RecordDataset;
import io.zrecord.sampler.Sampler;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Gathers the records at some positions of a sampler, in the sampler's order. Belongs to one task.
 */
final class SampledPartitionReader implements PartitionReader<ColumnarBatch> {
  private final Sampler order;
  private final long epoch;
  private final RecordDataset dataset;
  private final BatchColumns columns;
  private final PlaceCursor positions;
  private final long[] indices;
  private int gathered;
  private long recordCount;

  /**
   * Creates a reader of one partition.
   *
   * @param dataset the dataset, closed with this reader
   * @param order the part of an epoch to read
   */
  SampledPartitionReader(
      SampledInputPartition partition,
      RecordDataset dataset,
      Sampler order,
      long epoch,
      ReadSettings settings) {
    this.order = order;
    this.epoch = epoch;
    this.dataset = dataset;
    this.columns = new BatchColumns(settings, dataset.schema());
    this.positions = settings.cursor(partition.positions(), 0);
    this.indices = new long[settings.batchRows()];
    columns.open(dataset);
  }

  @Override
  public boolean next() {
    positions.skip(gathered);
    gathered = 0;
    int count = positions.peek(columns.gatherRows());
    if (count == 0) {
      return false;
    }
    locate(positions.places(), count);
    gathered = columns.gather(indices, count);
    columns.indices().setList(0, indices);
    columns.positions().setList(0, positions.places());
    recordCount += gathered;
    return true;
  }

  /** Asks the sampler for the indices at positions, once for each run of consecutive positions. */
  private void locate(long[] places, int count) {
    int run;
    for (int done = 0; done < count; done += run) {
      run = 1;
      while (done + run < count && places[done + run] == places[done] + run) {
        run++;
      }
      order.indices(epoch, places[done], indices, done, run);
    }
  }

  @Override
  public ColumnarBatch get() {
    return columns.batch();
  }

  @Override
  public CustomTaskMetric[] currentMetricsValues() {
    return ScanMetrics.ofTask(recordCount, 0, dataset.metrics());
  }

  @Override
  public void close() {
    dataset.close();
    columns.batch().close();
  }
}
