package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.table.Link;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Checks, after a version was published, that it is part of the table (FORMAT.md section 15). A
 * publisher that slept may have taken a number that was used and expired; no later version has its
 * change then. Thread-safe.
 */
final class PublicationCheck {
  /**
   * Longest time from reading the newest version to the check of the version before. In that time
   * the new version cannot have been expired together with all versions before it. The rest of the
   * least age is for clocks that differ.
   */
  private static final Duration MAX_PUBLICATION = ExpireOptions.LEAST_AGE.dividedBy(2);

  private final String location;
  private final ManifestLog log;
  private final InstantSource clock;

  PublicationCheck(String location, ManifestLog log, InstantSource clock) {
    this.location = location;
    this.log = log;
    this.clock = clock;
  }

  /** Tells whether what was read at a time is too old to build on. */
  boolean isLate(Instant began) {
    return Duration.between(began, clock.instant()).abs().compareTo(MAX_PUBLICATION) > 0;
  }

  /**
   * Requires that a version just published follows the version before, and that a version after it
   * follows it. If there is none before, or if publishing took long, requires that the newest
   * version comes from it.
   *
   * @param began when the version before was read
   * @throws CommitConflictException if the table was dropped meanwhile
   * @throws CommitOutcomeUnknownException if that does not hold or cannot be found out
   */
  void require(Manifest published, Instant began) {
    try {
      requireInForce(published, began);
      requireHint(published);
    } catch (CommitOutcomeUnknownException | CommitConflictException e) {
      throw e;
    } catch (RuntimeException e) {
      throw unknown(published, String.valueOf(e.getMessage()), e);
    }
  }

  private void requireInForce(Manifest published, Instant began) {
    try {
      requirePrevious(published);
      requireNext(published);
      if (published.version() == 0 || isLate(began)) {
        requireChain(published);
      }
    } catch (RuntimeException e) {
      if (isDropped(published)) {
        throw new CommitConflictException(
            location, "Cannot commit to " + location + ": the table was dropped meanwhile");
      }
      if (!isRetractionInForce(published)) {
        throw e;
      }
    }
  }

  /**
   * Tells whether the table was dropped since, which deletes its manifests. No version after that
   * has the change then, whether a version before had it or not.
   */
  private boolean isDropped(Manifest published) {
    return published.isTable()
        && newestReadable()
            .filter(last -> last.version() > published.version())
            .filter(last -> !last.isTable() || isBegunAfter(published, last))
            .isPresent();
  }

  private boolean isBegunAfter(Manifest published, Manifest newest) {
    return newest.oldest() > published.version()
        && log.readableLink(newest.oldest()).filter(Link::isBeginning).isPresent();
  }

  /**
   * Tells whether there is no table by a retraction just published, or another was created above. A
   * sweep may have deleted all manifests below already, and have published another retraction.
   */
  private boolean isRetractionInForce(Manifest published) {
    if (published.isTable()) {
      return false;
    }
    if (newestReadable()
        .filter(newest ->
            newest.commitId().equals(published.commitId()) || isRetractedAgain(published, newest))
        .isPresent()) {
      return true;
    }
    return log.readableLink(published.version())
        .filter(own -> own.commitId().equals(published.commitId()))
        .flatMap(own -> log.readableLink(published.version() + 1).filter(n -> n.follows(own)))
        .isPresent();
  }

  private static boolean isRetractedAgain(Manifest published, Manifest newest) {
    return !newest.isTable()
        && newest.version() > published.version()
        && newest.tableId().equals(published.tableId());
  }

  private Optional<Manifest> newestReadable() {
    try {
      return log.last();
    } catch (ZRecordException e) {
      return Optional.empty();
    }
  }

  private void requirePrevious(Manifest published) {
    Optional<UUID> previous = published.previous();
    if (previous.isPresent()
        && !log.link(published.version() - 1).commitId().equals(previous.get())) {
      throw unknown(published, "the version before it is another one than it was made for", null);
    }
  }

  /**
   * Requires that a version after the published one was made for it. Otherwise the number was free
   * because its manifest was lost, and no version after it has the change.
   */
  private void requireNext(Manifest published) {
    Link next;
    try {
      next = log.link(published.version() + 1);
    } catch (MissingFileException e) {
      return;
    }
    if (!next.previous().equals(Optional.of(published.commitId()))) {
      throw unknown(published, "the version after it was made for another one", null);
    }
  }

  /**
   * Requires that nobody else has published the version. Another publisher's hint of it tells of a
   * storage that let one commit overwrite another. That hint must stay, so that readers find out.
   */
  private void requireHint(Manifest published) {
    Link link = published.link();
    if (log.hint()
        .filter(hint -> hint.contradicts(link) && !log.chain().isOfTableBefore(hint, link))
        .isPresent()) {
      throw unknown(
          published,
          "another commit was published with that number, as the hint says, so the storage let one"
              + " overwrite the other",
          null);
    }
  }

  /** Requires that the newest version comes from this one, one version after the other. */
  private void requireChain(Manifest published) {
    List<Long> listed = log.listed();
    // A list may be older than the directory, and the hint may be behind.
    long newest = Math.max(
        listed.isEmpty() ? -1 : listed.get(listed.size() - 1),
        log.last().map(Manifest::version).orElse(-1L));
    if (newest < published.version()) {
      throw unknown(published, "the table has no such version any more", null);
    }
    Link link = log.link(newest);
    if (link.oldest() > published.version()) {
      throw unknown(published, "version " + newest + " has versions of that time expired", null);
    }
    for (long version = newest; version > published.version(); version--) {
      Link below = log.link(version - 1);
      if (!link.previous().equals(Optional.of(below.commitId()))) {
        throw unknown(published, "version " + version + " does not follow the one before", null);
      }
      link = below;
    }
    if (!link.commitId().equals(published.commitId())) {
      throw unknown(published, "another commit has that number", null);
    }
  }

  private CommitOutcomeUnknownException unknown(
      Manifest published, String reason, @Nullable RuntimeException cause) {
    return new CommitOutcomeUnknownException(
        location,
        "Cannot tell whether version " + published.version() + " of " + location
            + " counts, which was published: " + reason
            + "; look whether the newest version has the change, and delete nothing",
        cause);
  }
}
