package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Takes the commit that created a table back, and deletes the files of that commit only. Belongs to
 * one thread.
 *
 * <p>A retraction is published as the next version. Either that fails, because somebody else has
 * committed, and nothing is deleted; or no commit can publish on top of the table any more. Then
 * the manifests before it are deleted, and the files of the creation. The retraction stays, so that
 * its number is never free again for a commit that slept. The next creation follows it.
 *
 * <p>If a retraction is cut short at any moment, there is the whole table or none.
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
        || !newest.get().isBeginning()
        || !newest.get().commitId().equals(commitId)) {
      return false;
    }
    Manifest created = newest.get();
    List<ShardSummary> shards = List.copyOf(log.shards(created));
    List<String> lists = new ArrayList<>();
    log.lists(created, list -> lists.add(list.file())).forEach(list -> lists.add(list.file()));
    try {
      Manifest retraction =
          new Committer(storage, log, clock).commit(new RetractCommit(storage.location(), created));
      // A power loss must not bring the version back without its files.
      new ExpiredManifests(storage, log).deleteBelow(retraction.oldest());
    } catch (CommitConflictException e) {
      return false;
    }
    shards.forEach(shard -> storage.delete(shard.directory()));
    lists.forEach(storage::delete);
    return true;
  }
}
