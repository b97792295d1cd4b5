package io.zrecord.internal.table;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.storage.Storage;
import java.util.Optional;

/**
 * Looks for what contradicts the manifest that a list of the directory led to (FORMAT.md section
 * 11): it was replaced by the manifest of another table or of a copy that went on by itself, or the
 * storage let one commit overwrite another. Thread-safe.
 */
final class Contradiction {
  private final Storage storage;
  private final ManifestLog log;
  private final Link newest;

  Contradiction(Storage storage, ManifestLog log, Link newest) {
    this.storage = storage;
    this.log = log;
    this.newest = newest;
  }

  /**
   * Returns what is wrong; empty if nothing contradicts.
   *
   * @param last the version on the way from the hint that the next one did not follow
   */
  Optional<CorruptDataException> find(Optional<VersionHint> hint, Optional<Link> last) {
    if (hint.isPresent()
        && hint.get().contradicts(newest)
        && !log.chain().isOfTableBefore(hint.get(), newest)) {
      return Optional.of(replaced(hint.get(), newest));
    }
    if (last.isPresent() && newest.oldest() <= last.get().version()) {
      return Optional.of(broken(last.get().version() + 1));
    }
    if (!newest.isBeginning()
        && log.readableLink(newest.version() - 1)
            .filter(before -> !newest.follows(before))
            .isPresent()) {
      return Optional.of(broken(newest.version()));
    }
    return hint.filter(this::isRetained).flatMap(this::retained);
  }

  /** Tells whether the version of a hint is one that the newest version retains. */
  private boolean isRetained(VersionHint hint) {
    return hint.tableId().equals(newest.tableId())
        && hint.version() >= newest.oldest()
        && hint.version() < newest.version();
  }

  private Optional<CorruptDataException> retained(VersionHint hint) {
    return log.readableLink(hint.version())
        .filter(hint::contradicts)
        .map(link -> replaced(hint, link));
  }

  private CorruptDataException broken(long version) {
    return wrong(version, "does not follow version " + (version - 1), "");
  }

  private CorruptDataException replaced(VersionHint hint, Link link) {
    String path = storage.pathOf(ManifestNames.HINT);
    return wrong(
        link.version(),
        "is of commit " + link.commitId() + " of table " + link.tableId() + ", but " + path
            + " says that this version was published by commit " + hint.commitId() + " of table "
            + hint.tableId()
            + ": another table or another copy of the table has replaced the file, or the storage"
            + " let one commit overwrite another",
        ", or delete " + path + " if the manifests are right");
  }

  private CorruptDataException wrong(long version, String what, String orElse) {
    String path = storage.pathOf(ManifestNames.nameOf(version));
    return new CorruptDataException(
        path,
        "Cannot tell the newest version of " + storage.location() + ": " + path + " " + what
            + "; restore the manifests after version " + (version - 1)
            + " from a copy, or give versions up by bin/zrecord repair" + orElse);
  }
}
