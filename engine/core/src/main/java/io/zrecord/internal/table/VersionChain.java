package io.zrecord.internal.table;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.storage.Storage;
import java.util.Optional;

/**
 * Tells whether the manifests of a table follow one another, and what a hint that contradicts them
 * means (FORMAT.md section 11.1). Thread-safe.
 */
public final class VersionChain {
  private final Storage storage;
  private final ManifestLog log;

  VersionChain(Storage storage, ManifestLog log) {
    this.storage = storage;
    this.log = log;
  }

  /**
   * Tells whether a hint was left by a slow publisher of a table that was in the directory before:
   * it names another table, and all versions down to the floor follow the one before.
   */
  public boolean isOfTableBefore(VersionHint hint, Link link) {
    return hint.isOfAnotherTable(link)
        && !hint.commitId().equals(link.commitId())
        && isChained(link);
  }

  private boolean isChained(Link link) {
    // A beginning follows anything, also what a storage let it overwrite.
    if (link.isBeginning()) {
      return false;
    }
    Link at = link;
    do {
      Optional<Link> before = log.readableLink(at.version() - 1);
      if (before.filter(at::follows).isEmpty()) {
        return false;
      }
      at = before.get();
    } while (at.version() > link.oldest());
    return true;
  }

  /**
   * Reads a version of a table whose newest version cannot be read, so that it is unknown which
   * versions were expired.
   *
   * @throws CorruptDataException if the manifest is damaged, or is not the one that the hint or its
   *     neighbours say
   */
  public Manifest readUnlessReplaced(long version) {
    Manifest manifest = log.read(version);
    Link link = manifest.link();
    Optional<VersionHint> hint = VersionHint.readable(storage);
    if (hint.filter(there -> there.leadsTo(link)).isPresent()) {
      return manifest;
    }
    Optional<Link> next = log.readableLink(version + 1);
    boolean isContradicted = hint.filter(there -> (there.contradicts(link)
                || (there.version() >= version && there.isOfAnotherTable(link)))
            && !isOfTableBefore(there, link))
        .isPresent();
    boolean isLeftOut = hint.isPresent()
        && next.filter(hint.get()::leadsTo)
            .filter(after -> !after.follows(link))
            .isPresent();
    Optional<Boolean> isFollowed = next.filter(after -> after.tableId().equals(link.tableId()))
        .map(after -> after.follows(link));
    Optional<Boolean> follows =
        link.isBeginning() ? Optional.empty() : log.readableLink(version - 1).map(link::follows);
    boolean isConfirmed = isFollowed.orElse(false) || follows.orElse(false);
    boolean isDoubted = isFollowed.isPresent() || follows.isPresent();
    if (isContradicted || isLeftOut || (isDoubted && !isConfirmed)) {
      throw replaced(version);
    }
    return manifest;
  }

  /**
   * Returns the exception for a manifest from the floor of the newest version on that the next
   * version does not follow.
   *
   * @return {@link MissingFileException} if the version was expired meanwhile, otherwise
   *     {@link CorruptDataException}
   */
  public ZRecordException misplaced(long version) {
    if (log.last().filter(now -> now.oldest() <= version).isPresent()) {
      return replaced(version);
    }
    String path = storage.pathOf(ManifestNames.nameOf(version));
    return new MissingFileException(path, "Version " + version + " was expired meanwhile: " + path);
  }

  private CorruptDataException replaced(long version) {
    String path = storage.pathOf(ManifestNames.nameOf(version));
    return ManifestLog.withWayOut(new CorruptDataException(
        path,
        "Cannot read " + path + ": it does not fit the versions beside it, so another table or"
            + " another copy of the table has replaced the file; restore it from a copy"));
  }
}
