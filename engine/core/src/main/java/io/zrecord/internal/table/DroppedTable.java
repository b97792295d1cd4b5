package io.zrecord.internal.table;

import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.storage.Storage;
import java.util.Optional;

/** Tells whether a file is missing because its table was dropped. Stateless. */
public final class DroppedTable {
  private DroppedTable() {}

  /**
   * Returns the exception for a missing file of a shard or a list. Reads the newest manifest, which
   * says whether there is a table.
   */
  public static MissingFileException explained(Storage storage, MissingFileException missing) {
    return reason(storage)
        .map(reason -> new MissingFileException(
            missing.resource(),
            "Cannot read " + missing.resource() + ": it is gone, and " + reason,
            missing))
        .orElse(missing);
  }

  private static Optional<String> reason(Storage storage) {
    ManifestLog log = new ManifestLog(storage);
    try {
      return log.last()
          .flatMap(last -> last.isTable()
              ? beginning(log, last)
                  .map(first -> "the table of which it was may have been dropped:"
                      + " version " + first + " of " + storage.location()
                      + " is the first of another table; open the dataset again")
              : Optional.of("the table at " + storage.location() + " was dropped"));
    } catch (ZRecordException e) {
      // It is missing, for whatever reason.
      return Optional.empty();
    }
  }

  /** Returns the version with which a table began that was not the first here, if it is known. */
  private static Optional<Long> beginning(ManifestLog log, Manifest newest) {
    return log.readableLink(newest.oldest())
        .filter(link -> link.isBeginning() && link.version() > 0)
        .map(Link::version);
  }
}
