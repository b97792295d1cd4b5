package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.Manifest.Head;
import io.zrecord.internal.table.Manifest.Retention;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.RetainedVersions;
import io.zrecord.schema.Declarations;
import io.zrecord.storage.Storage;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;

/**
 * Commits that a table is again as it was at a version: an overwrite with the shards, fields and
 * declarations of that version, whose files all stay where they are. Conflicts with every commit
 * that changed records, fields or declarations since it was planned. Belongs to one thread.
 *
 * <p>No sweep can have deleted a file of a version that the newest version keeps, so the age of the
 * files does not matter.
 */
final class RollbackCommit implements Commit, SinceBase {
  private static final String OPERATION = "overwrite";

  /** Operations without records that would be undone, or that give versions up. */
  private static final Set<String> UNDONE = Set.of("declare", "repair");

  private final Storage storage;
  private final ManifestLog log;
  private final Manifest planned;
  private final Manifest target;
  private final UUID commitId = UUID.randomUUID();

  /**
   * Plans a rollback.
   *
   * @param planned the newest version
   * @param target a version that the newest one keeps
   * @throws io.zrecord.errors.UnsupportedFormatException if it has what this release cannot write
   */
  RollbackCommit(Storage storage, ManifestLog log, Manifest planned, Manifest target) {
    this.storage = storage;
    this.log = log;
    target.requireWritable(storage.location());
    this.planned = planned;
    this.target = target;
  }

  @Override
  public UUID commitId() {
    return commitId;
  }

  @Override
  public OptionalLong baseVersion() {
    return OptionalLong.of(planned.version());
  }

  @Override
  public boolean isDone(Manifest newest) {
    return false;
  }

  @Override
  public Optional<SinceBase> sinceBase() {
    return Optional.of(this);
  }

  @Override
  public boolean mayFollowExpired() {
    return false;
  }

  @Override
  public void requireBase(Manifest base) {
    if (!base.commitId().equals(planned.commitId())) {
      throw conflict("version " + planned.version() + ", on which it was planned, is another now");
    }
  }

  @Override
  public void requireCommutes(Manifest winner) {
    if (!winner.isCare() || UNDONE.contains(winner.operation())) {
      throw conflict("version " + winner.version() + " of the operation '" + winner.operation()
          + "' was committed since version " + planned.version() + ", and would be undone as well");
    }
  }

  @Override
  public void requireFits(Optional<Manifest> newest) {
    required(newest);
  }

  /** Requires the table on which the rollback was planned, with the version to go back to. */
  private Manifest required(Optional<Manifest> newest) {
    Manifest manifest = newest
        .filter(Manifest::isTable)
        .filter(table -> table.tableId().equals(planned.tableId()))
        .orElseThrow(() -> conflict("table " + planned.tableId() + " was dropped meanwhile"));
    if (manifest.version() < planned.version()) {
      throw conflict("version " + planned.version() + " was given up by a repair");
    }
    RetainedVersions retained = new RetainedVersions(log, storage.location(), manifest);
    try {
      if (!retained.read(target.version()).commitId().equals(target.commitId())) {
        throw conflict("that version is another one now");
      }
    } catch (VersionNotFoundException | MissingFileException e) {
      throw conflict("that version was expired meanwhile");
    }
    return manifest;
  }

  private CommitConflictException conflict(String reason) {
    return new CommitConflictException(
        storage.location(),
        "Cannot roll " + storage.location() + " back to version " + target.version() + ": " + reason
            + "; look at the table, and roll it back again if it still should be");
  }

  @Override
  public Manifest next(Optional<Manifest> last, long nowMillis, List<String> written) {
    Manifest before = required(last);
    Head head = Head.after(last, commitId, baseVersion(), nowMillis, OPERATION, properties(before))
        .keepingAs(target.head());
    return new Manifest(
        head,
        target.schema(),
        target.partitions(),
        declarations(before.declarations()),
        before.nextFieldId(),
        target.lists(),
        target.shards(),
        before.transactions(),
        Optional.empty(),
        new Retention(
            head.asRecords(), before.oldestOfNext(), before.tags(), before.sweptBeforeMillis()));
  }

  /**
   * Returns the declarations of the target. Series that go on in the newest version are as they are
   * there. Others are new ones, since their numbers may have been reserved in between.
   */
  private Declarations declarations(Declarations newest) {
    Declarations declarations = target.declarations();
    return declarations.withIdentities(declarations.identities().stream()
        .map(identity -> newest
            .identity(identity.fieldId())
            .filter(identity::isSameSeries)
            .orElseGet(identity::renewed))
        .toList());
  }

  /** Returns the figures of an overwrite, which here writes nothing. */
  private Map<String, String> properties(Manifest before) {
    return Map.of(
        "user", System.getProperty("user.name", ""),
        "rolledBackTo", String.valueOf(target.version()),
        "addedRecords", String.valueOf(target.length()),
        "addedBytes", "0",
        "removedRecords", String.valueOf(before.length()),
        "removedBytes", "0");
  }
}
