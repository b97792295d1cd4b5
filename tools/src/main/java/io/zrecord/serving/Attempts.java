package io.zrecord.serving;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.inspect.TableHistory;
import io.zrecord.inspect.VersionEntry;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.Optional;
import java.util.UUID;

/** Finds out what became of a commit whose answer was lost. Stateless. */
final class Attempts {
  private Attempts() {}

  /**
   * Returns the version that a commit has published.
   *
   * @param since version that was the newest when the commit was begun; -1 if there was no table
   * @return empty if no version since is of this commit
   * @throws CommitOutcomeUnknownException if one of the versions was expired, so that nobody can
   *     tell
   */
  static Optional<VersionEntry> find(RecordTable table, long since, UUID commitId) {
    Optional<TableSnapshot> newest = table.find();
    if (newest.isEmpty()) {
      return Optional.empty();
    }
    TableHistory history = TableHistory.of(table.storage());
    boolean isGap = false;
    for (long version = since + 1; version <= newest.get().version(); version++) {
      Optional<VersionEntry> entry = history.find(version);
      if (entry.filter(found -> found.commitId().equals(commitId)).isPresent()) {
        return entry;
      }
      isGap |= entry.isEmpty();
    }
    if (isGap) {
      throw new CommitOutcomeUnknownException(
          table.storage().location(),
          "Cannot tell whether " + table.storage().location() + " has what commit " + commitId
              + " wrote after version " + since + ": a version since was expired; look at what the"
              + " newest version has, and write again without the transaction if it is missing");
    }
    return Optional.empty();
  }
}
