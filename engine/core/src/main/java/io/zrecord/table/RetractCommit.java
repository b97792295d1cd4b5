package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.Manifest.Head;
import io.zrecord.internal.table.Manifest.Retention;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * Commits that there is no table any more, and expires the version before, which created the table.
 * Nothing else may come between. Belongs to one thread.
 */
final class RetractCommit implements Commit {
  private final String location;
  private final Manifest created;
  private final UUID commitId = UUID.randomUUID();

  /**
   * Plans a commit.
   *
   * @param location the table, for messages
   * @param created the version that created the table
   */
  RetractCommit(String location, Manifest created) {
    this.location = location;
    this.created = created;
  }

  @Override
  public UUID commitId() {
    return commitId;
  }

  @Override
  public OptionalLong baseVersion() {
    return OptionalLong.of(created.version());
  }

  @Override
  public boolean isDone(Manifest newest) {
    return false;
  }

  @Override
  public Optional<SinceBase> sinceBase() {
    return Optional.empty();
  }

  @Override
  public void requireFits(Optional<Manifest> newest) {
    if (newest
        .filter(manifest -> manifest.commitId().equals(created.commitId()))
        .isEmpty()) {
      throw new CommitConflictException(
          location,
          "Cannot take the creation of " + location
              + " back: another version was committed since; nothing was deleted");
    }
  }

  @Override
  public Manifest next(Optional<Manifest> last, long nowMillis, List<String> written) {
    Head head = Head.after(
        last,
        commitId,
        baseVersion(),
        nowMillis,
        Manifest.RETRACT,
        Map.of("user", System.getProperty("user.name", "")));
    return new Manifest(
        head,
        created.schema(),
        created.nextFieldId(),
        List.of(),
        List.of(),
        Map.of(),
        Optional.empty(),
        new Retention(head.asRecords(), head.version(), List.of()));
  }
}
