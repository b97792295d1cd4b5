package io.zrecord.verify;

import io.zrecord.DatasetKind;
import io.zrecord.Storages;
import io.zrecord.findings.CheckListener;
import io.zrecord.findings.CheckSummary;
import io.zrecord.internal.dataset.Providers;
import io.zrecord.internal.verify.CheckRun;
import io.zrecord.storage.Storage;

/**
 * Checks all of a dataset for damage: every checksum, and every rule of FORMAT.md.
 *
 * <pre>{@code
 * CheckSummary summary = DatasetCheck.of("/data/train").run(finding -> log.warn("{}", finding));
 * if (!summary.isSound()) …
 * }</pre>
 *
 * <p>Immutable. A check locks a store while it runs, and changes nothing of the dataset.
 */
public final class DatasetCheck {
  private final Storage storage;
  private final CheckedVersions choice;

  private DatasetCheck(Storage storage, CheckedVersions choice) {
    this.storage = storage;
    this.choice = choice;
  }

  /**
   * Returns a check of a shard, a store or a table. Of a table, the check covers the values of the
   * newest version and the files of all versions.
   *
   * @param location a local path, or a URI of a storage on the class path, such as
   *     {@code s3://bucket/train}; see {@link Storages}
   */
  public static DatasetCheck of(String location) {
    return of(Storages.at(location));
  }

  /**
   * Returns a check of what is at the root of a storage, as the other method does. What a cache has
   * is not checked. A store is on a local file system.
   */
  public static DatasetCheck of(Storage storage) {
    return new DatasetCheck(storage.uncached(), CheckedVersions.NEWEST);
  }

  /** Returns a check of the values of another version of a table. */
  public DatasetCheck version(long version) {
    return new DatasetCheck(storage, CheckedVersions.only(version));
  }

  /**
   * Returns a check of the values of all versions of a table. A dataset without versions is checked
   * as a whole.
   */
  public DatasetCheck allVersions() {
    return new DatasetCheck(storage, CheckedVersions.ALL);
  }

  /**
   * Runs the check. Findings about the data go to the listener.
   *
   * @throws io.zrecord.errors.NotADatasetException if there is no dataset
   * @throws io.zrecord.errors.VersionNotFoundException if the table does not have the version
   * @throws io.zrecord.errors.StoreLockedException if a writer is recovering the store
   * @throws IllegalArgumentException if a version was named and the dataset is not a table
   * @throws io.zrecord.errors.FileUnavailableException if a file cannot be read for a reason other
   *     than its content, which is no finding
   * @throws io.zrecord.errors.UnsupportedFormatException if a file is of a later format, about
   *     which nothing can be said
   */
  public CheckSummary run(CheckListener listener) {
    DatasetKind kind = DatasetKind.of(storage);
    if (kind != DatasetKind.TABLE && choice.version().isPresent()) {
      throw new IllegalArgumentException("Cannot check a version of " + storage.location()
          + ": it is no table, and only tables have versions; leave the version out");
    }
    if (kind == DatasetKind.STORE) {
      return Providers.ofStores(CheckProvider.class, storage, "check").check(storage, listener);
    }
    CheckRun run = new CheckRun(listener);
    new TableCheck(run, storage, (shard, schema) -> shard.run(storage, schema, run)).check(choice);
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
    if (DatasetKind.of(storage) != DatasetKind.TABLE) {
      throw new IllegalArgumentException("Cannot check " + storage.location()
          + " in parts: it is no table; check it with DatasetCheck.run, or zrecord verify");
    }
    CheckRun run = new CheckRun(listener);
    new TableCheck(run, storage, shards).check(choice);
    return run.summary();
  }
}
