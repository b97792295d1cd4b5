package io.zrecord.internal.table;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.shard.fetch.Requests;
import io.zrecord.storage.Storage;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Looks for the newest version of a table (FORMAT.md section 11): upwards from the hint. The
 * directory is listed if there is no hint, or if what the hint leads to does not follow the version
 * before: slow publishers leave manifests below the floor. What the list leads to is compared with
 * the hint and with the version before. Thread-safe.
 */
final class NewestVersion {
  /** Most versions read on the way up. Further behind, one list of the directory is cheaper. */
  private static final int MAX_STEPS = 8;

  private final Storage storage;
  private final ManifestLog log;

  NewestVersion(Storage storage, ManifestLog log) {
    this.storage = storage;
    this.log = log;
  }

  /**
   * Returns the manifest with the greatest number; empty if there is none. What contradicts the
   * manifest may have been expired meanwhile. So a contradiction is damage if the same manifest is
   * the newest when everything is read again.
   *
   * @throws CorruptDataException if the manifest is damaged, if the hint is ahead of all manifests,
   *     or if the manifest is not that of the hint or does not follow the version before
   */
  Optional<Manifest> find() {
    Optional<UUID> doubted = Optional.empty();
    while (true) {
      Optional<VersionHint> hint = VersionHint.readable(storage);
      Climb climb = hint.map(this::climb).orElse(Climb.NOWHERE);
      if (climb.newest.isPresent()) {
        return climb.newest;
      }
      Optional<Manifest> found = listed(hint);
      Optional<CorruptDataException> doubt = found.flatMap(
          newest -> new Contradiction(storage, log, newest.link()).find(hint, climb.last));
      if (doubt.isEmpty()) {
        return found;
      }
      Optional<UUID> commitId = found.map(Manifest::commitId);
      if (commitId.equals(doubted)) {
        throw doubt.get();
      }
      doubted = commitId;
    }
  }

  /** Returns the manifest with the greatest number in the directory, whatever contradicts it. */
  Optional<Manifest> greatest() {
    return listed(Optional.empty());
  }

  /**
   * What a way up from the hint led to.
   *
   * @param newest the newest version; empty if the hint does not lead to it
   * @param last the version read before one that does not follow; empty if there is no such one
   */
  private record Climb(Optional<Manifest> newest, Optional<Link> last) {
    static final Climb NOWHERE = new Climb(Optional.empty(), Optional.empty());
  }

  private Climb climb(VersionHint hint) {
    try {
      Hinted hinted = hinted(hint.version());
      Manifest found = hinted.manifest;
      if (!hint.leadsTo(found.link())) {
        return Climb.NOWHERE;
      }
      boolean isChecked = false;
      Optional<Manifest> next = hinted.next;
      for (int step = 0; next.isPresent(); step++) {
        if (step == MAX_STEPS) {
          return Climb.NOWHERE;
        }
        if (!next.get().link().follows(found.link())) {
          return new Climb(Optional.empty(), Optional.of(found.link()));
        }
        isChecked = true;
        found = next.get();
        next = next(found.version());
      }
      return isChecked || follows(found)
          ? new Climb(Optional.of(found), Optional.empty())
          : Climb.NOWHERE;
    } catch (MissingFileException | CorruptDataException | TruncatedFileException e) {
      return Climb.NOWHERE;
    }
  }

  /** A version and the version after it, if there is one. */
  private record Hinted(Manifest manifest, Optional<Manifest> next) {}

  /**
   * Reads the version of a hint, and the next. The version was there when the hint was written, so
   * the next one may be asked for first, or at the same time. The version before must be asked for
   * later: an expiry deletes from the lowest number on.
   */
  private Hinted hinted(long version) {
    if (!storage.isRemote()) {
      Manifest manifest = log.read(version);
      return new Hinted(manifest, next(version));
    }
    Map<Long, Optional<Manifest>> read = new ConcurrentHashMap<>();
    Requests.forEach(
        storage,
        List.of(version + 1, version),
        number ->
            read.put(number, number == version ? Optional.of(log.read(version)) : next(version)));
    return new Hinted(
        Objects.requireNonNull(read.get(version)).orElseThrow(),
        Objects.requireNonNull(read.get(version + 1)));
  }

  /** Returns the version after another; empty if there is none. */
  private Optional<Manifest> next(long version) {
    try {
      return Optional.of(log.read(version + 1));
    } catch (MissingFileException e) {
      return Optional.empty();
    }
  }

  /** Tells whether a version follows the version before, or begins the table. */
  private boolean follows(Manifest manifest) {
    return manifest.isBeginning() || manifest.link().follows(log.link(manifest.version() - 1));
  }

  /** Returns the newest version from the greatest number in the directory on. */
  private Optional<Manifest> listed(Optional<VersionHint> hint) {
    OptionalLong missing = OptionalLong.empty();
    while (true) {
      List<Long> listed = log.listed();
      // A list may be older than the directory.
      long greatest = listed.isEmpty() ? 0 : listed.get(listed.size() - 1);
      try {
        Manifest found = log.read(greatest);
        for (Optional<Manifest> next = next(greatest);
            next.isPresent();
            next = next(found.version())) {
          found = next.get();
        }
        requireReached(hint, found);
        return Optional.of(found);
      } catch (MissingFileException e) {
        if (listed.isEmpty()) {
          hint.ifPresent(there -> {
            throw ahead(there, "there is no manifest");
          });
          return Optional.empty();
        }
        // Expired since the directory was read, unless it is the greatest again.
        if (missing.equals(OptionalLong.of(greatest))) {
          throw e;
        }
        missing = OptionalLong.of(greatest);
      }
    }
  }

  private void requireReached(Optional<VersionHint> hint, Manifest found) {
    hint.filter(there -> there.version() > found.version())
        .filter(there -> there.tableId().equals(found.tableId()))
        .ifPresent(there -> {
          throw ahead(there, "version " + found.version() + " is the newest");
        });
  }

  private CorruptDataException ahead(VersionHint hint, String found) {
    String path = storage.pathOf(ManifestNames.HINT);
    return new CorruptDataException(
        path,
        "Cannot tell the newest version of " + storage.location() + ": " + path + " says that"
            + " version " + hint.version() + " was published, but " + found
            + "; restore the manifests after it from a copy, or delete " + path
            + " if they were given up on purpose");
  }
}
