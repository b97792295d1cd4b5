package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.storage.Storage;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * Publishes a commit as the next version. After a lost race the commit is tried again on top of the
 * winner if the two commute, as two appends do; otherwise they conflict. Thread-safe.
 *
 * <p>Every error after a version was published leaves the outcome unknown: it would look like a
 * failed commit otherwise, and the caller would delete shards that a version names.
 */
final class Committer {
  private static final int MAX_ATTEMPTS = 1000;
  private static final long MAX_PAUSE_NANOS = 20_000_000;

  private final Storage storage;
  private final ManifestLog log;
  private final InstantSource clock;
  private final PublicationCheck check;

  public Committer(Storage storage, ManifestLog log) {
    this(storage, log, InstantSource.system());
  }

  Committer(Storage storage, ManifestLog log, InstantSource clock) {
    this.storage = storage;
    this.log = log;
    this.clock = clock;
    this.check = new PublicationCheck(storage.location(), log, clock);
  }

  /**
   * Publishes a change. Returns the version in force: the version published, or the newest if the
   * transaction took effect before.
   */
  public Manifest commit(TableChange change) {
    return commit(new ShardCommit(storage, log, change));
  }

  /**
   * Publishes a commit. Returns the version in force: the version published, or the newest if
   * nothing is left to do.
   */
  Manifest commit(Commit commit) {
    long seen = commit.baseVersion().orElse(-1);
    for (int attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      Instant began = clock.instant();
      Optional<Manifest> newest = log.newest();
      newest.ifPresent(manifest -> manifest.requireWritable(storage.location()));
      if (newest.isPresent()) {
        if (commit.isDone(newest.get())) {
          return findPublished(commit, seen + 1, newest.get()).orElse(newest.get());
        }
        Optional<Manifest> own = findOwn(commit, seen + 1, newest.get());
        if (own.isPresent()) {
          return own.get();
        }
        seen = Math.max(seen, newest.get().version());
      }
      commit.requireFits(newest);
      if (attempt == 1) {
        commit.checkFiles();
        if (check.isLate(began)) {
          // The check of very many files took long; what was read before is too old to build on.
          continue;
        }
      }
      Optional<Manifest> published = publish(commit, newest);
      if (published.isPresent()) {
        check.require(published.get(), began);
        return published.get();
      }
      LockSupport.parkNanos(
          ThreadLocalRandom.current().nextLong(MAX_PAUSE_NANOS * Math.min(attempt, 10) / 10));
    }
    throw new CommitConflictException(
        storage.location(),
        "Cannot commit to " + storage.location() + ": other commits came first " + MAX_ATTEMPTS
            + " times; write less often, or more at once");
  }

  /**
   * Finds this commit among the versions since the base: it may be there when it is tried again
   * after an unknown outcome. Manifests below the floor prove nothing.
   */
  private Optional<Manifest> findPublished(Commit commit, long from, Manifest newest) {
    long lowest = Math.max(from, newest.oldest());
    for (long version = newest.version(); version >= lowest; version--) {
      try {
        Manifest manifest = version == newest.version() ? newest : log.read(version);
        if (manifest.commitId().equals(commit.commitId())) {
          return Optional.of(manifest);
        }
      } catch (MissingFileException e) {
        // This version was expired, and all versions before it.
        return Optional.empty();
      }
    }
    return Optional.empty();
  }

  /**
   * Looks through the versions since the base. This commit may be among them when it is tried again
   * after an unknown outcome; all other versions must commute with it.
   */
  private Optional<Manifest> findOwn(Commit commit, long from, Manifest newest) {
    if (from < newest.oldest() && !commit.mayFollowExpired()) {
      throw expired(from, Optional.empty());
    }
    for (long version = Math.max(from, newest.oldest()); version <= newest.version(); version++) {
      Manifest winner;
      try {
        winner = version == newest.version() ? newest : log.read(version);
      } catch (MissingFileException e) {
        if (commit.mayFollowExpired()) {
          continue;
        }
        throw expired(version, Optional.of(e));
      }
      if (winner.commitId().equals(commit.commitId())) {
        return Optional.of(winner);
      }
      commit.requireCommutes(winner);
    }
    return Optional.empty();
  }

  private CommitOutcomeUnknownException expired(
      long version, Optional<MissingFileException> cause) {
    return new CommitOutcomeUnknownException(
        storage.location(),
        "Cannot commit to " + storage.location() + ": version " + version
            + ", which came since the change was planned, was expired, so that it cannot be told"
            + " whether they fit together, nor whether it is the change itself, tried before;"
            + " look at what the newest version has, and run the write again",
        cause.orElse(null));
  }

  /**
   * Publishes the next version. Returns empty if another commit has the version; then nothing of
   * this attempt is left.
   */
  private Optional<Manifest> publish(Commit commit, Optional<Manifest> newest) {
    List<ShardListFile> written = new ArrayList<>();
    try {
      Manifest next = commit.next(newest, clock.millis(), written);
      if (log.publish(next)) {
        return Optional.of(next);
      }
    } catch (CommitOutcomeUnknownException e) {
      throw e;
    } catch (ZRecordException e) {
      deleteQuietly(written);
      throw e;
    }
    deleteQuietly(written);
    return Optional.empty();
  }

  /** Deletes lists that no version names and none ever will name. */
  private void deleteQuietly(List<ShardListFile> lists) {
    for (ShardListFile list : lists) {
      try {
        storage.delete(list.file());
      } catch (ZRecordException e) {
        // An orphan costs space only.
      }
    }
  }
}
