package io.zrecord.store;

import io.zrecord.Batch;
import io.zrecord.RecordSource;
import io.zrecord.internal.dataset.DirectoryGuess;
import io.zrecord.internal.store.read.StoreFollower;
import io.zrecord.internal.store.read.StoreView;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.RecordSchema;
import java.nio.file.Path;

/**
 * Reads a store, in any number of processes on the machine of its writer. A reader follows what the
 * writer publishes: a batch shows one committed state of its records, and the next batch may show a
 * later state. For all records as of one moment take a {@link StoreSnapshot}. A reader follows into
 * the new files of a store that is rebalanced.
 *
 * <p>The writer may be closed, killed and started again meanwhile. While no writer recovers what a
 * killed writer left half done, a gather may wait, for 20 seconds at most. Thread-safe.
 */
public final class StoreReader implements RecordSource {
  /** Number of threads that help with gathers which wait. */
  private static final int HELPERS = 8;

  private final StoreFollower follower;
  private final StoreBatches batches;
  private final ReadMetrics metrics = new ReadMetrics();

  private StoreReader(Path path, StoreFollower follower, Verification verification) {
    this.follower = follower;
    this.batches = new StoreBatches(
        path.toString(),
        new StoreView(follower.parts(), verification, metrics, HELPERS),
        retired ->
            new StoreView(follower.partsAfter(retired.parts()), verification, metrics, HELPERS));
  }

  /** Opens a store. Values are verified when they are touched first. */
  public static StoreReader open(Path path) {
    return open(path, Verification.FIRST);
  }

  /**
   * Opens a store.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no store
   * @throws io.zrecord.errors.StoreAbandonedException if a writer has to recover the store first
   * @throws io.zrecord.errors.CorruptDataException if a file is damaged
   */
  public static StoreReader open(Path path, Verification verification) {
    DirectoryGuess.requireDirectory(path);
    return new StoreReader(path, StoreFollower.open(path), verification);
  }

  /** Returns the fields; their compressions may change when the store is rebalanced. */
  @Override
  public RecordSchema schema() {
    return batches.schema();
  }

  /** Returns the number of records that are committed. */
  @Override
  public long length() {
    return batches.length();
  }

  /** Returns the counters of what the readers of this store did. */
  public ReadMetrics metrics() {
    return metrics;
  }

  /**
   * Gathers the values of some fields at any indices; see {@link RecordStore#gather}.
   *
   * @throws io.zrecord.errors.StoreAbandonedException if the writer was killed while it changed
   *     these records, and no other writer has followed
   */
  @Override
  public Batch gather(long[] indices, String... fields) {
    return batches.gather(indices, fields);
  }

  /** Refuses new batches. Batches that were handed out stay valid. */
  @Override
  public void close() {
    batches.close();
    follower.close();
  }
}
