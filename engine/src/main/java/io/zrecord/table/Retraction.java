package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Takes the commit that created a table back, and deletes the files of that commit only. Belongs to
 * one thread.
 *
 * <p>An empty version 1 is published first, which expires version 0. Either that fails, because
 * somebody else has committed, and nothing is deleted; or a commit that read version 0 cannot
 * publish on top of it any more. Then the manifest of version 0 and its files are deleted, and the
 * manifest of version 1 at the end. A commit that follows version 1 meanwhile expires it.
 *
 * <p>A commit that read version 0 and slept all that time can still publish version 1. Its check of
 * version 0 fails then, so that its outcome is unknown, and it deletes nothing.
 *
 * <p>If a retraction is cut short at any moment, all versions that are left are whole.
 */
final class Retraction {
  private final Storage storage;
  private final ManifestLog log;
  private final InstantSource clock;

  Retraction(Storage storage, ManifestLog log, InstantSource clock) {
    this.storage = storage;
    this.log = log;
    this.clock = clock;
  }

  /** Returns whether the commit was taken back. Nothing was deleted if not. */
  boolean run(UUID commitId) {
    Optional<Manifest> newest = log.newest();
    if (newest.isEmpty()
        || newest.get().version() != 0
        || !newest.get().commitId().equals(commitId)) {
      return false;
    }
    Manifest created = newest.get();
    List<ShardSummary> shards = log.shards(created);
    try {
      new Committer(storage, log, clock).commit(new RetractCommit(storage.location(), created));
    } catch (CommitConflictException e) {
      return false;
    }
    storage.delete(ManifestNames.nameOf(0));
    // A power loss must not bring the version back without its files.
    storage.forceDirectory(ManifestNames.DIRECTORY);
    shards.forEach(shard -> storage.delete(shard.directory()));
    created.lists().stream().map(ShardListFile::file).forEach(storage::delete);
    storage.delete(ManifestNames.nameOf(1));
    return true;
  }
}
