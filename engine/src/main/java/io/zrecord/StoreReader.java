package io.zrecord;

import io.zrecord.internal.dataset.DirectoryGuess;
import io.zrecord.internal.store.read.StoreFollower;
import io.zrecord.internal.store.read.StoreView;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.RecordSchema;
import java.nio.file.Path;

/**
 * A store open for reading only, in any number of processes on the machine of its writer. It
 * follows what the writer publishes: a batch is one committed state of the records that it has, the
 * next batch may be a later one. For all records as of one moment take a snapshot,
 * {@link StoreSnapshot}. It follows into the new files of a store that is rebalanced.
 *
 * <p>The writer may be closed, killed and started again meanwhile. While none is recovering what a
 * killed one left half done, a gather may have to wait, for 20 seconds at most. Thread-safe.
 */
public final class StoreReader implements RecordSource {
  /** Threads that help with gathers which wait. */
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

  /** Opens a store; values are verified when they are touched first. */
  public static StoreReader open(Path path) {
    return open(path, Verification.FIRST);
  }

  /**
   * Opens a store.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is none
   * @throws io.zrecord.errors.StoreAbandonedException if it has to be recovered by a writer first
   * @throws io.zrecord.errors.CorruptDataException if a file is damaged
   */
  public static StoreReader open(Path path, Verification verification) {
    DirectoryGuess.requireDirectory(path);
    return new StoreReader(path, StoreFollower.open(path), verification);
  }

  /** The fields; their compressions may change when the store is rebalanced. */
  @Override
  public RecordSchema schema() {
    return batches.schema();
  }

  /** Records that are committed. */
  @Override
  public long length() {
    return batches.length();
  }

  /** The counters of what its readers did. */
  public ReadMetrics metrics() {
    return metrics;
  }

  /**
   * The values of some fields at any indices; see {@link RecordStore#gather}.
   *
   * @throws io.zrecord.errors.StoreAbandonedException if the writer was killed while it changed
   *     these records, and none has followed
   */
  @Override
  public Batch gather(long[] indices, String... fields) {
    return batches.gather(indices, fields);
  }

  /** Refuses new batches. Those that were handed out stay valid. */
  @Override
  public void close() {
    batches.close();
    follower.close();
  }
}
