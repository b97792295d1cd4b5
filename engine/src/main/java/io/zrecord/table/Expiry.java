package io.zrecord.table;

import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.RetainedVersions;
import io.zrecord.internal.table.TagEntry;
import io.zrecord.storage.Storage;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
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
   */
  private record Floor(Manifest newest, long version) {
    boolean isHigher() {
      return version > newest.oldest();
    }
  }

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
    if (!floor.isHigher()) {
      deleteBelow(newest.oldest());
      return result(mode, newest, newest.oldest(), newest.oldest());
    }
    ExpireCommit commit = new ExpireCommit(storage.location(), newest, floor.version);
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
    long highest = oldestToKeep(newest, options.keepVersions());
    long floor = newest.oldest();
    newest.requireWritable(storage.location());
    if (highest > floor) {
      writable(floor);
    }
    while (floor < highest && writable(floor + 1).timestampMillis() <= latest) {
      floor++;
    }
    for (TagEntry tag : newest.tags()) {
      if (tag.version() >= newest.oldest() && tag.version() < floor) {
        // Soon there will be the copy only.
        log.read(tag);
      }
    }
    return new Floor(newest, floor);
  }

  /** Reads a version that says nothing to programs that delete beyond what is known here. */
  private Manifest writable(long version) {
    Manifest manifest = log.read(version);
    manifest.requireWritable(storage.location());
    return manifest;
  }

  /**
   * Returns the last of the versions to keep that changed records; the floor if there are fewer.
   */
  private long oldestToKeep(Manifest newest, int keepVersions) {
    long version = newest.records().version();
    for (int kept = 1; kept < keepVersions && version > newest.oldest(); kept++) {
      version = log.read(version - 1).records().version();
    }
    return Math.max(version, newest.oldest());
  }

  /**
   * Deletes the manifests below a floor from the lowest on, each for good before the next, so that
   * a power loss leaves no gap above a manifest that came back.
   */
  private void deleteBelow(long floor) {
    List<Long> below = log.listed().stream().filter(version -> version < floor).toList();
    if (!below.isEmpty()) {
      // Another process may have published the floor just now.
      storage.forceDirectory(ManifestNames.DIRECTORY);
    }
    for (long version : below) {
      storage.delete(ManifestNames.nameOf(version));
      storage.forceDirectory(ManifestNames.DIRECTORY);
    }
  }
}
