package io.zrecord.table;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.internal.dataset.DirectoryGuess;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.RetainedVersions;
import io.zrecord.internal.table.TagEntry;
import io.zrecord.storage.Storage;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Finds the versions of a table: the newest version, and others by number, time or tag. A reading
 * is repeated if a version was expired meanwhile. Thread-safe.
 */
final class VersionReads {
  private final Storage storage;
  private final ManifestLog log;

  VersionReads(Storage storage, ManifestLog log) {
    this.storage = storage;
    this.log = log;
  }

  /** Returns whether there is a table. A newest version that cannot be read is one. */
  boolean exists() {
    try {
      return log.newest().isPresent();
    } catch (CorruptDataException
        | TruncatedFileException
        | MissingFileException
        | UnsupportedFormatException e) {
      return true;
    }
  }

  /**
   * Returns the newest manifest.
   *
   * @throws NotADatasetException if there is no table
   */
  Manifest newest() {
    return log.newest().orElseThrow(this::notATable);
  }

  /**
   * Returns the newest version.
   *
   * @throws NotADatasetException if there is no table
   */
  TableSnapshot latest() {
    return reading(this::snapshot);
  }

  /** Returns the newest version; empty if there is no table. */
  Optional<TableSnapshot> find() {
    return log.reading(this::snapshot);
  }

  /** Returns a version by its number, even if the newest version is damaged. */
  TableSnapshot version(long version) {
    try {
      return reading(newest -> snapshot(retained(newest).read(version)));
    } catch (CorruptDataException | TruncatedFileException e) {
      if (isNewestReadable() || !log.listed().contains(version)) {
        throw e;
      }
      // It is unknown then which versions were expired.
      return snapshot(log.chain().readUnlessReplaced(version));
    }
  }

  private boolean isNewestReadable() {
    try {
      return log.newest().isPresent();
    } catch (CorruptDataException | TruncatedFileException e) {
      return false;
    }
  }

  /** Returns the newest version committed at or before a time. */
  TableSnapshot asOf(Instant time) {
    return reading(
        newest -> snapshot(new VersionAsOf(storage.location(), retained(newest)).find(time)));
  }

  /** Returns the version that a tag names. */
  TableSnapshot tagged(String name) {
    return reading(newest -> {
      TagEntry tag = newest.tag(name).orElseThrow(() -> noTag(newest, name));
      return snapshot(retained(newest).read(tag.version()));
    });
  }

  /** Returns the numbers of the versions that can be read, or may be if the newest is damaged. */
  List<Long> numbers() {
    try {
      return log.newest().map(newest -> retained(newest).numbers()).orElse(List.of());
    } catch (CorruptDataException | TruncatedFileException e) {
      return log.listed();
    }
  }

  /**
   * Runs a reading of versions, again if a version was expired meanwhile.
   *
   * @param reading takes the newest version
   * @throws NotADatasetException if there is no table
   */
  <T> T reading(Function<Manifest, T> reading) {
    return log.reading(reading).orElseThrow(this::notATable);
  }

  private RetainedVersions retained(Manifest newest) {
    return new RetainedVersions(log, storage.location(), newest);
  }

  private TableSnapshot snapshot(Manifest manifest) {
    return new TableSnapshot(storage, manifest);
  }

  /** Makes the error of a tag that is not there; the error names the tags that are. */
  VersionNotFoundException noTag(Manifest newest, String name) {
    List<TagEntry> present = newest.tags();
    return new VersionNotFoundException(
        storage.location(),
        "There is no tag '" + name + "' of " + storage.location() + "; "
            + (present.isEmpty()
                ? "it has no tags"
                : "the tags are "
                    + present.stream().map(TagEntry::name).collect(Collectors.joining(", "))));
  }

  /** Makes the error of a table that is not there; the error says what the directory holds. */
  NotADatasetException notATable() {
    return new NotADatasetException(
        storage.location(),
        "There is no zrecord table at " + storage.location() + ": "
            + (log.listed().isEmpty()
                ? DirectoryGuess.of(storage)
                : "it was dropped, or its creation was taken back. Write a dataset there first"));
  }
}
