package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.Manifest.Head;
import io.zrecord.internal.table.Manifest.Retention;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.internal.table.TagEntry;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * Commits what a version keeps of versions before, and leaves its records as they are. Follows
 * every other commit, and every other commit may follow it. Belongs to one thread.
 */
abstract class CareCommit implements Commit {
  private final String operation;
  private final Manifest planned;
  private final UUID commitId = UUID.randomUUID();

  /**
   * Plans a commit.
   *
   * @param operation one of {@link Manifest#CARE}
   * @param planned the newest version when the commit was planned
   */
  CareCommit(String operation, Manifest planned) {
    this.operation = operation;
    this.planned = planned;
  }

  /** Makes a commit that removes a tag. */
  static CareCommit untag(Manifest planned, String name) {
    return new CareCommit("untag", planned) {
      @Override
      public boolean isDone(Manifest newest) {
        return newest.tag(name).isEmpty();
      }

      @Override
      Retention change(Manifest newest, long nowMillis) {
        List<TagEntry> tags =
            newest.tags().stream().filter(tag -> !tag.name().equals(name)).toList();
        return new Retention(newest.records(), newest.oldest(), tags);
      }
    };
  }

  /**
   * Makes a commit that raises the floor.
   *
   * @param floor the oldest version that stays
   */
  static CareCommit expire(String location, Manifest planned, long floor) {
    return new CareCommit("expire", planned) {
      @Override
      public boolean isDone(Manifest newest) {
        return newest.oldest() >= floor;
      }

      @Override
      void requireFits(Manifest newest) {
        if (newest.records().version() < floor) {
          throw new CommitConflictException(
              location,
              "Cannot expire the versions of " + location + " before " + floor
                  + ": a repair went back to version " + newest.records().version()
                  + " meanwhile; expire again");
        }
      }

      @Override
      Retention change(Manifest newest, long nowMillis) {
        return new Retention(newest.records(), floor, newest.tags());
      }
    };
  }

  /**
   * Makes a commit that ends a repair.
   *
   * @param oldest the oldest version that is there without a gap up to the planned one
   */
  static CareCommit repair(Manifest planned, long oldest) {
    return new CareCommit("repair", planned) {
      @Override
      public boolean isDone(Manifest newest) {
        return false;
      }

      @Override
      Retention change(Manifest newest, long nowMillis) {
        return new Retention(newest.records(), Math.max(oldest, newest.oldest()), newest.tags());
      }
    };
  }

  /** Returns what the next version keeps. */
  abstract Retention change(Manifest newest, long nowMillis);

  /** Requires that the commit makes sense on top of the newest version. */
  void requireFits(Manifest newest) {}

  @Override
  public final UUID commitId() {
    return commitId;
  }

  @Override
  public final OptionalLong baseVersion() {
    return OptionalLong.of(planned.version());
  }

  @Override
  public final boolean mayFollowExpired() {
    return true;
  }

  @Override
  public final void requireCommutes(Manifest winner) {}

  @Override
  public final void requireFits(Optional<Manifest> newest) {
    requireFits(required(newest));
  }

  @Override
  public void checkFiles() {}

  @Override
  public final Manifest next(
      Optional<Manifest> newest, long nowMillis, List<ShardListFile> written) {
    Manifest before = required(newest);
    Retention retention = change(before, nowMillis);
    Head head = Head.after(
        newest,
        commitId,
        baseVersion(),
        nowMillis,
        operation,
        Map.of("user", System.getProperty("user.name", "")));
    return new Manifest(
        head,
        before.schema(),
        before.nextFieldId(),
        before.lists(),
        before.shards(),
        before.transactions(),
        Optional.empty(),
        retention);
  }

  /** Requires the table on which the commit was planned. */
  private Manifest required(Optional<Manifest> newest) {
    return newest
        .filter(manifest -> manifest.tableId().equals(planned.tableId()))
        .orElseThrow(() -> new CommitConflictException(
            planned.tableId().toString(),
            "Cannot commit the " + operation + " to table " + planned.tableId()
                + ": the table was removed meanwhile; nothing is left to do"));
  }
}
