package io.zrecord.spark.changes;

import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.table.TableSnapshot;

/**
 * The versions whose changes are told.
 *
 * @param from the version before the first one; −1 for the time before the table
 * @param to the last version
 * @param isNet whether each record is told once, however many versions changed the record
 */
public record ChangesRange(long from, TableSnapshot to, boolean isNet) {
  /**
   * Checks the range.
   *
   * @throws VersionNotFoundException if the first version comes after the last one
   */
  public ChangesRange {
    if (from < -1 || from > to.version()) {
      throw new VersionNotFoundException(
          to.storage().location(),
          "Cannot tell the changes of " + to.storage().location() + " after version " + from
              + " up to version " + to.version() + ": give a version from 0 to the last one");
    }
  }
}
