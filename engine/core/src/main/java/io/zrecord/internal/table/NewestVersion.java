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
import java.util.concurrent.ConcurrentHashMap;

/**
 * Looks for the newest version of a table (FORMAT.md section 11): upwards from the hint. The
 * directory is listed if there is no hint, or if what the hint leads to does not follow the version
 * before: slow publishers leave manifests below the floor. Thread-safe.
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
   * Returns the manifest with the greatest number; empty if there is none.
   *
   * @param usesHint whether to begin at the hint; if not, the hint is not read
   * @throws CorruptDataException if the manifest is damaged, or the hint is ahead of all manifests
   */
  Optional<Manifest> find(boolean usesHint) {
    Optional<VersionHint> hint = usesHint ? VersionHint.readable(storage) : Optional.empty();
    Optional<Manifest> found = hint.flatMap(this::from);
    return found.isPresent() ? found : listed(hint);
  }

  /** Returns the newest version from a hint on; empty if the hint does not lead to it. */
  private Optional<Manifest> from(VersionHint hint) {
    Manifest found;
    Manifest next;
    try {
      Hinted hinted = hinted(hint.version());
      found = hinted.manifest;
      if (!hint.leadsTo(found)) {
        return Optional.empty();
      }
      next = hinted.next.orElse(null);
      boolean isChecked = false;
      for (int step = 0; next != null; step++) {
        if (step == MAX_STEPS) {
          return Optional.empty();
        }
        if (!isNext(found, next)) {
          break;
        }
        isChecked = true;
        found = next;
        next = next(found.version()).orElse(null);
      }
      if (next == null) {
        return isChecked || follows(found) ? Optional.of(found) : Optional.empty();
      }
    } catch (MissingFileException | CorruptDataException | TruncatedFileException e) {
      return Optional.empty();
    }
    return beyondGap(hint, found);
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

  /** Returns the newest version, if what does not follow a version was expired like that one. */
  private Optional<Manifest> beyondGap(VersionHint hint, Manifest last) {
    Optional<Manifest> newest = listed(Optional.of(hint));
    if (newest.isPresent() && newest.get().oldest() <= last.version()) {
      String path = storage.pathOf(ManifestNames.nameOf(last.version() + 1));
      throw new CorruptDataException(
          path,
          "Cannot tell the newest version of " + storage.location() + ": " + path
              + " does not follow version " + last.version()
              + "; restore the manifests after that version from a copy, or give versions up by"
              + " bin/zrecord repair");
    }
    return newest;
  }

  private static boolean isNext(Manifest manifest, Manifest next) {
    return next.isBeginning() || next.previous().equals(Optional.of(manifest.commitId()));
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
    return manifest.isBeginning()
        || manifest
            .previous()
            .equals(Optional.of(log.link(manifest.version() - 1).commitId()));
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
