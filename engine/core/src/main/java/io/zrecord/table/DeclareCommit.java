package io.zrecord.table;

import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.Manifest.Retention;
import io.zrecord.schema.Declarations;
import java.util.Map;
import java.util.UUID;

/** Commits a change of what a table declares. Belongs to one thread. */
final class DeclareCommit extends CareCommit {
  private final Declaring declaring;

  DeclareCommit(Declaring declaring, UUID commitId, Map<String, String> notes) {
    super(
        "declare",
        declaring.base().storage().location(),
        declaring.base().manifest(),
        commitId,
        notes);
    this.declaring = declaring;
  }

  @Override
  public boolean isDone(Manifest newest) {
    return declaring.isDone(newest.declarations());
  }

  @Override
  void requireFits(Manifest newest) {
    declaring.requireFits(newest);
    declaring.after(newest, newest.schema());
  }

  @Override
  Retention change(Manifest newest, long nowMillis) {
    return newest.retention();
  }

  @Override
  Declarations declarations(Manifest newest) {
    return declaring.after(newest, newest.schema());
  }
}
