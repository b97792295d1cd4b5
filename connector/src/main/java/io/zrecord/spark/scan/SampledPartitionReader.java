package io.zrecord.spark.scan;

import io.zrecord.Prefetcher;
import io.zrecord.Prefetcher.Prefetch;
import io.zrecord.RecordDataset;
import io.zrecord.sampler.Sampler;
import io.zrecord.table.TableSnapshot;
import java.util.Arrays;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Gathers the records at some positions of a sampler, in the sampler's order. Belongs to one task.
 */
final class SampledPartitionReader implements PartitionReader<ColumnarBatch> {
  private static final Prefetch NOTHING = () -> {};

  private final Sampler order;
  private final long epoch;
  private final RecordDataset dataset;
  private final BatchColumns columns;
  private final PlaceCursor positions;
  private final long[] indices;
  private final Prefetcher prefetcher;
  private Prefetch prefetch = NOTHING;
  private int gathered;
  private long recordCount;

  /**
   * Creates a reader of one partition.
   *
   * @param snapshot the version to read
   * @param dataset the same, closed with this reader
   * @param order the part of an epoch to read
   */
  SampledPartitionReader(
      SampledInputPartition partition,
      TableSnapshot snapshot,
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
    columns.shards().set(row -> snapshot.firstIndex(snapshot.shardOf(indices[(int) row])));
    columns.versions().set(snapshot.version());
    this.prefetcher = dataset.prefetcher(columns.names());
  }

  @Override
  public boolean next() {
    positions.skip(gathered);
    gathered = 0;
    int count = positions.peek(columns.gatherRows());
    if (count == 0) {
      return false;
    }
    locate(positions.places(), count, indices);
    gathered = columns.gather(indices, count);
    columns.indices().setList(0, indices);
    columns.positions().setList(0, positions.places());
    recordCount += gathered;
    if (dataset.isRemote()) {
      askForNext();
    }
    return true;
  }

  /** Asks for the bytes of the next batch, which are on their way while this one is used. */
  private void askForNext() {
    int count = positions.peek(gathered + columns.gatherRows()) - gathered;
    Prefetch next = null;
    if (count > 0) {
      long[] places = Arrays.copyOfRange(positions.places(), gathered, gathered + count);
      long[] wanted = new long[count];
      locate(places, count, wanted);
      next = prefetcher.ask(wanted);
    }
    prefetch.close();
    prefetch = next == null ? NOTHING : next;
  }

  /** Asks the sampler for the indices at positions, once for each run of consecutive positions. */
  private void locate(long[] places, int count, long[] target) {
    int run;
    for (int done = 0; done < count; done += run) {
      run = 1;
      while (done + run < count && places[done + run] == places[done] + run) {
        run++;
      }
      order.indices(epoch, places[done], target, done, run);
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
    prefetch.close();
    dataset.close();
    columns.batch().close();
  }
}
