package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.Manifest.Head;
import io.zrecord.internal.table.Manifest.Retention;
import io.zrecord.internal.table.Restoration;
import io.zrecord.internal.table.TagEntry;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.Identity;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Commits what a version keeps of versions before, or declares, and leaves its records as they are.
 * Follows every other commit, and every other commit may follow it. Belongs to one thread.
 */
abstract class CareCommit implements Commit {
  private final String operation;
  private final String location;
  private final Manifest planned;
  private final UUID commitId;
  private final Map<String, String> properties;

  /**
   * Plans a commit.
   *
   * @param operation one of {@link Manifest#CARE}
   * @param location the table, for messages
   * @param planned the newest version when the commit was planned
   */
  CareCommit(String operation, String location, Manifest planned) {
    this(operation, location, planned, UUID.randomUUID(), Map.of());
  }

  /** Plans a commit of an id, with informative strings. */
  CareCommit(
      String operation,
      String location,
      Manifest planned,
      UUID commitId,
      Map<String, String> properties) {
    this.operation = operation;
    this.location = location;
    this.planned = planned;
    this.commitId = commitId;
    this.properties = new TreeMap<>(properties);
    this.properties.putIfAbsent("user", System.getProperty("user.name", ""));
  }

  /** Makes a commit that removes a tag. */
  static CareCommit untag(String location, Manifest planned, String name) {
    return new CareCommit("untag", location, planned) {
      @Override
      public boolean isDone(Manifest newest) {
        return newest.tag(name).isEmpty();
      }

      @Override
      Retention change(Manifest newest, long nowMillis) {
        List<TagEntry> tags =
            newest.tags().stream().filter(tag -> !tag.name().equals(name)).toList();
        return newest.retention().withTags(tags);
      }
    };
  }

  /**
   * Makes a commit that says what a sweep is about to delete.
   *
   * @param beforeMillis the sweep deletes only files that were last changed before that time, by
   *     the storage's clock
   * @param storageMillis what the storage's clock said when the sweep began
   */
  static CareCommit sweep(
      String location, Manifest planned, long beforeMillis, long storageMillis) {
    return new CareCommit("sweep", location, planned) {
      @Override
      public boolean isDone(Manifest newest) {
        return false;
      }

      @Override
      Retention change(Manifest newest, long nowMillis) {
        return newest.retention().withSweptBefore(beforeMillis, storageMillis);
      }
    };
  }

  /** Makes a commit that ends a repair. Follows the planned version only. */
  static CareCommit repair(String location, Manifest planned, Restoration restoration) {
    return new CareCommit("repair", location, planned) {
      @Override
      public boolean isDone(Manifest newest) {
        return false;
      }

      @Override
      void requireFits(Manifest newest) {
        if (!newest.commitId().equals(planned.commitId())) {
          throw new CommitConflictException(
              location,
              "Cannot repair " + location + ": version " + newest.version()
                  + " was committed meanwhile; verify the table and repair it again");
        }
      }

      @Override
      Retention change(Manifest newest, long nowMillis) {
        return restoration.retention(nowMillis);
      }

      /** A version that is given up may have reserved numbers that are reserved again. */
      @Override
      Declarations declarations(Manifest newest) {
        Declarations declarations = newest.declarations();
        return declarations.withIdentities(
            declarations.identities().stream().map(Identity::renewed).toList());
      }
    };
  }

  /** Returns what the next version keeps. */
  abstract Retention change(Manifest newest, long nowMillis);

  /** Returns what the next version declares. */
  Declarations declarations(Manifest newest) {
    return newest.declarations();
  }

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
  public final Optional<SinceBase> sinceBase() {
    return Optional.empty();
  }

  @Override
  public final void requireFits(Optional<Manifest> newest) {
    requireFits(required(newest));
  }

  @Override
  public final Manifest next(Optional<Manifest> last, long nowMillis, List<String> written) {
    Manifest before = required(last);
    Retention retention = change(before, nowMillis);
    Head head = Head.after(last, commitId, baseVersion(), nowMillis, operation, properties);
    return new Manifest(
        head,
        before.schema(),
        before.partitions(),
        declarations(before),
        before.nextFieldId(),
        before.lists(),
        before.shards(),
        before.transactions(),
        Optional.empty(),
        retention);
  }

  /** Requires the table on which the commit was planned. */
  private Manifest required(Optional<Manifest> last) {
    return last.filter(Manifest::isTable)
        .filter(manifest -> manifest.tableId().equals(planned.tableId()))
        .orElseThrow(() -> new CommitConflictException(
            location,
            "Cannot commit the " + operation + " to " + location + ": table " + planned.tableId()
                + ", on which it was planned, was dropped meanwhile; nothing is left to do"));
  }
}
