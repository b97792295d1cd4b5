package io.zrecord.verify;

import io.zrecord.DatasetKind;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.storage.local.LocalStorage;
import java.nio.file.Path;

/**
 * Checks all of a dataset on a local file system for damage: every checksum, and every rule of
 * FORMAT.md.
 *
 * <pre>{@code
 * CheckSummary summary = DatasetCheck.of(path).run(finding -> log.warn("{}", finding));
 * if (!summary.isSound()) …
 * }</pre>
 *
 * <p>Immutable. A check locks a store while it runs, and changes nothing of the dataset.
 */
public final class DatasetCheck {
  private final Path path;
  private final CheckedVersions choice;

  private DatasetCheck(Path path, CheckedVersions choice) {
    this.path = path;
    this.choice = choice;
  }

  /**
   * Returns a check of a shard, a store or a table. Of a table, the check covers the values of the
   * newest version and the files of all versions.
   */
  public static DatasetCheck of(Path path) {
    return new DatasetCheck(path, CheckedVersions.NEWEST);
  }

  /** Returns a check of the values of another version of a table. */
  public DatasetCheck version(long version) {
    return new DatasetCheck(path, CheckedVersions.only(version));
  }

  /**
   * Returns a check of the values of all versions of a table. A dataset without versions is checked
   * as a whole.
   */
  public DatasetCheck allVersions() {
    return new DatasetCheck(path, CheckedVersions.ALL);
  }

  /**
   * Runs the check. Findings about the data go to the listener.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no dataset
   * @throws io.zrecord.errors.VersionNotFoundException if the table does not have the version
   * @throws io.zrecord.errors.StoreLockedException if a writer has the store open
   * @throws IllegalArgumentException if a version was named and the dataset is not a table
   * @throws io.zrecord.errors.FileUnavailableException if a file cannot be read for a reason other
   *     than its content, which is no finding
   * @throws io.zrecord.errors.UnsupportedFormatException if a file is of a later format, about
   *     which nothing can be said
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
   * Checks everything of a table except its shards: manifests, tags, and files that no version
   * names.
   *
   * @param shards takes the remaining checks, each shard once; the summaries of all of them add up
   *     to the summary of {@link #run}. Each check takes some hundred bytes, and many share one
   *     schema
   * @throws IllegalArgumentException if the dataset is not a table
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
