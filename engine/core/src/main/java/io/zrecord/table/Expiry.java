package io.zrecord.table;

import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.RetainedVersions;
import io.zrecord.internal.table.TagEntry;
import io.zrecord.storage.Storage;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * Expires versions that are no longer wanted: commits a version with a higher floor, and deletes
 * the manifests below. {@link Sweep} removes the files that the manifests named. Belongs to one
 * thread.
 *
 * <p>The commit expires the versions; what a cut leaves below the floor has no meaning, and the
 * next run deletes it. A tag is a commit as well, so one of the two follows the other: an expiry
 * carries every tag on, and a tag finds that its version was expired.
 */
final class Expiry {
  private final Storage storage;
  private final ManifestLog log;
  private final InstantSource clock;

  /**
   * The oldest version that stays.
   *
   * @param newest the newest version when the floor was looked for
   * @param commitId the commit of the oldest version that stays, if the floor is higher than before
   */
  private record Floor(Manifest newest, long version, Optional<UUID> commitId) {}

  Expiry(Storage storage, InstantSource clock) {
    this.storage = storage;
    this.log = new ManifestLog(storage);
    this.clock = clock;
  }

  /** Expires versions; empty if there is no table. */
  Optional<ExpireResult> run(ExpireOptions options) {
    return log.reading(newest -> floor(newest, options)).map(floor -> run(floor, options.mode()));
  }

  private ExpireResult run(Floor floor, CareMode mode) {
    Manifest newest = floor.newest;
    if (mode == CareMode.DRY_RUN) {
      return result(mode, newest, newest.oldest(), floor.version);
    }
    if (floor.commitId.isEmpty()) {
      deleteBelow(newest.oldest());
      return result(mode, newest, newest.oldest(), newest.oldest());
    }
    ExpireCommit commit =
        new ExpireCommit(storage.location(), log, newest, floor.version, floor.commitId.get());
    Manifest published = new Committer(storage, log, clock).commit(commit);
    deleteBelow(published.oldest());
    if (!published.commitId().equals(commit.commitId())) {
      // Another expiry was faster.
      return result(mode, published, published.oldest(), published.oldest());
    }
    // The version that the expiry itself made is none of those that it was asked to keep.
    ExpireResult result = result(mode, published, commit.floorBefore(), floor.version);
    return new ExpireResult(mode, result.expired(), result.taggedCount(), countOf(published) - 1);
  }

  private void deleteBelow(long floor) {
    try {
      new ExpiredManifests(storage, log).deleteBelow(floor);
    } catch (ZRecordException e) {
      throw new StorageException(
          e.resource(),
          "The versions of " + storage.location() + " before " + floor
              + " were expired, but not all of their manifests could be deleted: "
              + e.getMessage() + "; expire again to delete the rest",
          e);
    }
  }

  /** Returns the result of expiring the versions from one to below another. */
  private ExpireResult result(CareMode mode, Manifest newest, long from, long to) {
    Set<Long> tagged = newest.tags().stream().map(TagEntry::version).collect(Collectors.toSet());
    List<Long> untagged = LongStream.range(from, to)
        .filter(version -> !tagged.contains(version))
        .boxed()
        .toList();
    return new ExpireResult(
        mode, untagged, (int) (to - from) - untagged.size(), countOf(newest) - untagged.size());
  }

  private int countOf(Manifest newest) {
    return new RetainedVersions(log, storage.location(), newest).count();
  }

  /**
   * Returns the oldest version that must stay: the oldest to keep, or a version before that is too
   * young to be the floor. Reads every version up to it, because a manifest of a later format might
   * mean more than is known here.
   */
  private Floor floor(Manifest newest, ExpireOptions options) {
    long latest = clock.millis() - options.olderThan().toMillis();
    // If every version changed records, no more than these may go.
    long highest = newest.records().version() - options.keepVersions() + 1;
    long floor = newest.oldest();
    newest.requireWritable(storage.location());
    Optional<UUID> commitId = Optional.empty();
    if (highest > floor && log.read(floor + 1).timestampMillis() <= latest) {
      highest = oldestToKeep(newest, options.keepVersions());
      Manifest last = writable(floor);
      while (floor < highest) {
        Manifest next = writable(floor + 1);
        if (!next.link().follows(last.link())) {
          throw log.chain().misplaced(floor);
        }
        last = next;
        if (next.timestampMillis() > latest) {
          break;
        }
        floor++;
        commitId = Optional.of(next.commitId());
      }
    }
    for (TagEntry tag : newest.tags()) {
      if (tag.version() >= newest.oldest() && tag.version() < floor) {
        // Soon there will be the copy only.
        log.read(tag);
      }
    }
    return new Floor(newest, floor, commitId);
  }

  /** Reads a version that says nothing to programs that delete beyond what is known here. */
  private Manifest writable(long version) {
    Manifest manifest = log.read(version);
    manifest.requireWritable(storage.location());
    return manifest;
  }

  /**
   * Returns the last of the versions to keep that changed records; the floor if there are fewer.
   * Parses no shards.
   */
  private long oldestToKeep(Manifest newest, int keepVersions) {
    long version = newest.records().version();
    for (int kept = 1; kept < keepVersions && version > newest.oldest(); kept++) {
      version = log.link(version - 1).records().version();
    }
    return Math.max(version, newest.oldest());
  }
}
