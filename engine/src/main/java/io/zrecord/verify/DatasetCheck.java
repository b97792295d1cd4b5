package io.zrecord.verify;

import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.storage.LocalStorage;
import io.zrecord.verify.SealedShardCheck.Depth;
import java.nio.file.Path;

/**
 * Looks through all of a dataset on a local file system for damage: every checksum, and whatever FORMAT.md says must hold.
 *
 * <pre>{@code
 * CheckSummary summary = DatasetCheck.of(path).run(finding -> log.warn("{}", finding));
 * if (!summary.isSound()) …
 * }</pre>
 *
 * <p>Immutable. A store is locked while it is checked, and nothing of the dataset is changed.
 */
public final class DatasetCheck {
  private final Path path;
  private final VersionChoice choice;

  private DatasetCheck(Path path, VersionChoice choice) {
    this.path = path;
    this.choice = choice;
  }

  /** A check of a shard, of a store, or of a table: then of its newest version's values and of the files of all versions. */
  public static DatasetCheck of(Path path) {
    return new DatasetCheck(path, VersionChoice.NEWEST);
  }

  /** A check of the values of another version of a table. */
  public DatasetCheck version(long version) {
    return new DatasetCheck(path, VersionChoice.only(version));
  }

  /** A check of the values of all versions of a table; of what has no versions, of what there is. */
  public DatasetCheck allVersions() {
    return new DatasetCheck(path, VersionChoice.ALL);
  }

  /**
   * Checks. What is wrong with the data goes to the listener.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no dataset
   * @throws io.zrecord.errors.VersionNotFoundException if the table does not have the version
   * @throws io.zrecord.errors.StoreLockedException if a writer has the store open
   * @throws IllegalArgumentException if a version was named, but it is no table
   * @throws io.zrecord.errors.FileUnavailableException if a file cannot be read for another reason than its content: that is no finding
   * @throws io.zrecord.errors.UnsupportedFormatException if a file is of a later format: nothing can be said of it
   */
  public CheckSummary run(CheckListener listener) {
    CheckRun run = new CheckRun(listener);
    MutableFiles files = new LocalMutableFiles(path);
    DatasetKind kind = DatasetKind.of(path);
    if (kind != DatasetKind.TABLE && choice.version().isPresent()) {
      throw new IllegalArgumentException("Cannot check a version of " + path
          + ": it is no table, and only tables have versions; leave the version out");
    }
    switch (kind) {
      case TABLE ->
        new TableCheck(run, LocalStorage.at(path), (shard, schema) -> shard.run(schema, run, files))
            .check(choice);
      case SHARD -> new SealedShardCheck(run, files, Depth.VALUES).checkAlone();
      case STORE -> {
        ProcessLock lock = ProcessLock.acquire(path);
        try {
          new StoreCheck(run, files).check();
        } finally {
          lock.close();
        }
      }
    }
    return run.summary();
  }

  /**
   * Checks of a table all but its shards: manifests, tags, and which files no version names.
   *
   * @param shards takes what is left to be checked, each shard once; summaries of all add up to that of {@link #run}. Each takes some
   *     hundred bytes, and one schema serves many of them
   * @throws IllegalArgumentException if it is no table
   * @throws io.zrecord.errors.NotADatasetException if there is no dataset
   * @throws io.zrecord.errors.VersionNotFoundException if the table does not have the version
   */
  public CheckSummary withoutShards(CheckListener listener, ShardVisitor shards) {
    if (DatasetKind.of(path) != DatasetKind.TABLE) {
      throw new IllegalArgumentException("Cannot check " + path
          + " in parts: it is no table; check it with DatasetCheck.run, or zrecord verify");
    }
    CheckRun run = new CheckRun(listener);
    new TableCheck(run, LocalStorage.at(path), shards).check(choice);
    return run.summary();
  }
}
