package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.internal.format.JournalRecord;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.storage.Storage;
import java.time.InstantSource;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

/**
 * Drops a table, or takes the commit that created a table back. Deletes the files that the versions
 * of the table name, and no other. Belongs to one thread.
 *
 * <p>A retraction is published as the next version. Either that fails, and nothing is deleted; or
 * no commit can publish on top of the table any more. Then the manifests before it are deleted, and
 * the files. The retraction stays, so that its number is never free again for a commit that slept.
 * The next creation follows it.
 *
 * <p>If a drop is cut short at any moment, there is the whole table or none. A sweep deletes what
 * is left.
 */
final class TableDrop {
  private final Storage storage;
  private final ManifestLog log;
  private final InstantSource clock;
  private final NamedFiles named;

  TableDrop(Storage storage, ManifestLog log, InstantSource clock) {
    this.storage = storage;
    this.log = log;
    this.clock = clock;
    this.named = new NamedFiles(storage);
  }

  /** Takes a creation back. Returns whether that was done; nothing was deleted if not. */
  boolean retract(UUID commitId) {
    Optional<Manifest> newest = log.newest();
    if (newest.isEmpty()
        || !newest.get().isBeginning()
        || !newest.get().commitId().equals(commitId)) {
      return false;
    }
    try {
      publish(RetractCommit.ofCreation(storage, newest.get(), named));
    } catch (CommitConflictException e) {
      return false;
    }
    new DroppedFiles(storage).delete(named);
    return true;
  }

  /**
   * Drops a table.
   *
   * @param notATable makes the exception for a directory without a table
   */
  DropResult drop(UUID tableId, DropOptions options, Supplier<NotADatasetException> notATable) {
    Manifest last = log.last().orElseThrow(() -> isStore() ? store() : notATable.get());
    if (!last.tableId().equals(tableId)) {
      throw last.isTable() ? another(tableId, last) : notATable.get();
    }
    boolean isDryRun = options.mode() == CareMode.DRY_RUN;
    boolean isCounted = last.isTable();
    if (isDryRun && last.isTable()) {
      named.refresh();
    } else if (!isDryRun) {
      isCounted = last.isTable() && isDroppedHere(last);
      if (!isCounted) {
        // Another drop may have been cut short.
        log.last().filter(manifest -> !manifest.isTable()).ifPresent(this::deleteManifests);
      }
    }
    return new DropResult(
        options.mode(),
        isCounted ? named.versionCount() : 0,
        isCounted ? named.fileCount() : 0,
        sweep(options));
  }

  /** Drops a table. Returns whether no other drop of the table was faster. */
  private boolean isDroppedHere(Manifest newest) {
    try {
      drop(newest);
      return true;
    } catch (CommitConflictException e) {
      boolean isDropped = log.last()
          .filter(last -> !last.isTable() && last.tableId().equals(newest.tableId()))
          .isPresent();
      if (!isDropped) {
        throw e;
      }
      return false;
    }
  }

  private void drop(Manifest newest) {
    Manifest retraction = publish(RetractCommit.ofTable(storage, newest, named));
    new DroppedFiles(storage).delete(named);
    long limit = retraction.sweptBeforeMillis().orElse(Long.MIN_VALUE);
    boolean isClockBehind = storage
        .find(ManifestNames.nameOf(retraction.version()))
        .filter(file -> file.modifiedMillis() < limit)
        .isPresent();
    if (isClockBehind) {
      // The clock is coarse: what somebody writes now would look like a file of this table.
      new StorageClock(storage).awaitAfter(limit - 1);
    }
  }

  private Manifest publish(RetractCommit commit) {
    Manifest retraction = new Committer(storage, log, clock).commit(commit);
    // A power loss must not bring the versions back without their files.
    deleteManifests(retraction);
    return retraction;
  }

  private void deleteManifests(Manifest retraction) {
    new ExpiredManifests(storage, log).deleteBelow(retraction.oldest());
  }

  private Optional<SweepResult> sweep(DropOptions options) {
    return options.mode() == CareMode.DELETE && options.leftovers() == DropOptions.Leftovers.SWEPT
        ? Optional.of(
            new Sweep(storage, clock, DropOptions.SWEEP, SweepWorkers.here(storage), orphan -> {})
                .run())
        : Optional.empty();
  }

  private CommitConflictException another(UUID tableId, Manifest newest) {
    return new CommitConflictException(
        storage.location(),
        "Cannot drop table " + tableId + " of " + storage.location()
            + ": it was dropped before, and table " + newest.tableId()
            + " stands there now; nothing was deleted");
  }

  private boolean isStore() {
    return storage.exists(JournalRecord.FILE_NAME);
  }

  private NotADatasetException store() {
    return new NotADatasetException(
        storage.location(),
        "Cannot drop " + storage.location()
            + ": it is a store, which is written online; close the program that writes to it, and"
            + " delete the directory");
  }
}
