package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.Manifest.Retention;
import io.zrecord.schema.Declarations;

/** Commits a change of what a table declares. Belongs to one thread. */
final class DeclareCommit extends CareCommit {
  private final String location;
  private final DeclarationChange change;

  DeclareCommit(String location, DeclarationChange change) {
    super("declare", location, change.base().manifest(), change.commitId(), change.notes());
    this.location = location;
    this.change = change;
  }

  @Override
  public boolean isDone(Manifest newest) {
    return change.isDone(newest.declarations());
  }

  @Override
  void requireFits(Manifest newest) {
    if (isDone(newest)) {
      return;
    }
    String contested = change.contested(newest.declarations());
    if (contested != null) {
      throw conflict(
          contested + " was changed by another commit up to version " + newest.version());
    }
    if ((change.addsCheck() || change.addsIdentity())
        && !newest.records().commitId().equals(change.base().recordsCommitId())) {
      throw conflict("version " + newest.records().version()
          + (change.addsCheck()
              ? " may have records for which the check is false"
              : " may have records with numbers of the identity"));
    }
    declarations(newest);
  }

  @Override
  Retention change(Manifest newest, long nowMillis) {
    return newest.retention();
  }

  @Override
  Declarations declarations(Manifest newest) {
    try {
      Declarations next = change.on(newest.declarations());
      DeclarationRules rules = new DeclarationRules(location, next);
      rules.requireFields(newest.schema());
      rules.requirePartitions(newest.schema(), newest.partitions());
      return next;
    } catch (SchemaMismatchException | IllegalArgumentException e) {
      throw conflict(String.valueOf(e.getMessage()));
    }
  }

  private CommitConflictException conflict(String reason) {
    return new CommitConflictException(
        location,
        "Cannot change the declarations of " + location + ", planned on version "
            + change.base().version() + ": " + reason + "; read the newest version and try again");
  }
}
