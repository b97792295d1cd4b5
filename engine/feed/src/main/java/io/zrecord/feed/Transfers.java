package io.zrecord.feed;

import io.zrecord.RecordDataset;
import io.zrecord.read.ReadMetrics;
import java.util.Set;

/**
 * Counts what readers asked of storages that do not map their files.
 *
 * @param requests number of requests
 * @param bytes bytes asked for
 * @param waitNanos time that readers waited
 */
record Transfers(long requests, long bytes, long waitNanos) {

  /** Returns the sums of some datasets since they were opened. */
  static Transfers of(Set<RecordDataset> datasets) {
    Transfers sum = new Transfers(0, 0, 0);
    for (RecordDataset dataset : datasets) {
      ReadMetrics metrics = dataset.metrics();
      sum = new Transfers(
          sum.requests + metrics.requests.sum(),
          sum.bytes + metrics.bytesRequested.sum(),
          sum.waitNanos + metrics.waitNanos.sum());
    }
    return sum;
  }

  /** Returns what came after an earlier count. */
  Transfers since(Transfers earlier) {
    return new Transfers(
        requests - earlier.requests, bytes - earlier.bytes, waitNanos - earlier.waitNanos);
  }
}
