package io.zrecord.benchmarks.remote;

import io.zrecord.RecordDataset;
import io.zrecord.feed.Feed;
import io.zrecord.feed.FeedBatch;
import io.zrecord.feed.FeedGroup;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import java.util.concurrent.locks.LockSupport;

/** An epoch of batches of 256 records, shuffled by blocks of 8 MiB of which 16 are mixed. */
final class ShuffledEpoch {
  /** Number of records of a batch; the last batch of an epoch may be shorter. */
  static final int BATCH = 256;

  private static final long BLOCK_RECORDS = RemoteSite.RANGE_BYTES / RemoteSite.VALUE_BYTES;
  private static final long MIXED_BLOCKS = 16;

  private ShuffledEpoch() {}

  /**
   * Consumes an epoch.
   *
   * @param stepNanos what the consumer takes for each batch, without the processor
   * @return the seconds that the consumer waited after the first batch
   */
  static double consume(RecordDataset dataset, long seed, long stepNanos) {
    Sampler sampler = Samplers.blockShuffle(dataset.length(), BLOCK_RECORDS, MIXED_BLOCKS, seed);
    long records = 0;
    try (Feed feed = Feed.of(FeedGroup.of(dataset).sampler(sampler, seed).batchSize(BATCH))
        .stopBeforeEpoch(1)
        .start()) {
      long idleAtFirst = 0;
      for (FeedBatch batch = feed.next(); batch != null; batch = feed.next()) {
        if (records == 0) {
          idleAtFirst = feed.statistics().idleNanos();
        }
        records += batch.count();
        batch.close();
        if (stepNanos > 0) {
          LockSupport.parkNanos(stepNanos);
        }
      }
      if (records != dataset.length()) {
        throw new IllegalStateException(records + " records came of " + dataset.length());
      }
      return (feed.statistics().idleNanos() - idleAtFirst) / 1e9;
    }
  }
}
