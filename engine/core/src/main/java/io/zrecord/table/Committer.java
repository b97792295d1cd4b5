package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.RetainedVersions;
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
      Optional<Manifest> last = log.last();
      Optional<Manifest> newest = last.filter(Manifest::isTable);
      last.ifPresent(manifest -> manifest.requireWritable(storage.location()));
      if (last.isPresent()) {
        boolean isDone = newest.filter(commit::isDone).isPresent();
        if (!isDone) {
          requireBase(commit, last.get());
        }
        Optional<Manifest> own = findOwn(commit, seen, last.get(), isDone);
        if (own.isPresent()) {
          return own.get();
        }
        if (isDone) {
          return last.get();
        }
        seen = Math.max(seen, last.get().version());
      }
      commit.requireFits(newest);
      if (attempt == 1) {
        commit.checkFiles();
        if (check.isLate(began)) {
          // The check of very many files took long; what was read before is too old to build on.
          continue;
        }
      }
      Optional<Manifest> published = publish(commit, last);
      if (published.isPresent()) {
        check.require(published.get(), began);
        log.leaveHint(published.get());
        commit.published(published.get());
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

  /** Requires that the base is still what it was: a repair may have given its number away. */
  private void requireBase(Commit commit, Manifest last) {
    long base = commit.baseVersion().orElse(-1);
    Optional<SinceBase> rules = commit.sinceBase();
    if (rules.isPresent() && base >= last.oldest() && base <= last.version()) {
      try {
        rules.get().requireBase(base == last.version() ? last : log.read(base));
      } catch (MissingFileException e) {
        // Expired just now; what came since is looked at nevertheless.
      }
    }
  }

  /**
   * Looks through the versions since one that was looked at. This commit may be among them when it
   * is tried again after an unknown outcome. Unless its transaction is done, all other versions
   * must commute with it. Manifests below the floor prove nothing.
   */
  private Optional<Manifest> findOwn(Commit commit, long seen, Manifest last, boolean isDone) {
    if (commit.sinceBase().isEmpty()) {
      return Optional.empty();
    }
    SinceBase rules = commit.sinceBase().get();
    RetainedVersions versions = new RetainedVersions(log, storage.location(), last);
    for (long version = firstSince(seen, last, rules); version <= last.version(); version++) {
      Optional<Manifest> winner = readSince(version, versions, rules);
      if (winner.isPresent() && winner.get().commitId().equals(commit.commitId())) {
        return winner;
      }
      if (winner.isPresent() && !isDone) {
        rules.requireCommutes(winner.get());
      }
    }
    return Optional.empty();
  }

  /** Returns the first version after another one that says something about a commit. */
  private long firstSince(long seen, Manifest last, SinceBase rules) {
    long from = seen + 1;
    boolean isExpired = from < last.oldest()
        && !rules.mayFollowExpired()
        && !readSince(last.oldest(), new RetainedVersions(log, storage.location(), last), rules)
            .filter(Manifest::isBeginning)
            .isPresent();
    if (isExpired) {
      throw expired(from, Optional.empty());
    }
    return Math.max(from, last.oldest());
  }

  /** Reads a version; empty if the version was expired and that is no matter. */
  private Optional<Manifest> readSince(long version, RetainedVersions versions, SinceBase rules) {
    try {
      return Optional.of(versions.readUpwards(version));
    } catch (MissingFileException e) {
      if (rules.mayFollowExpired()) {
        return Optional.empty();
      }
      throw expired(version, Optional.of(e));
    }
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
  private Optional<Manifest> publish(Commit commit, Optional<Manifest> last) {
    List<String> written = new ArrayList<>();
    try {
      Manifest next = commit.next(last, clock.millis(), written);
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

  /** Deletes files that no version names and none ever will name. An orphan costs space only. */
  private void deleteQuietly(List<String> files) {
    for (String file : files) {
      try {
        storage.delete(file);
      } catch (ZRecordException e) {
        // A sweep deletes the file.
      }
    }
  }
}
