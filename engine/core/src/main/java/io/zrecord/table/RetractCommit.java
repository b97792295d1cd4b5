package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.Manifest.Head;
import io.zrecord.internal.table.Manifest.Retention;
import io.zrecord.storage.Storage;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * Commits that there is no table any more, and expires all versions before; or, where there is none
 * already, how old the files are that a sweep is about to delete. Collects the files that the
 * versions before name before each attempt. Belongs to one thread.
 */
abstract class RetractCommit implements Commit {
  private final Storage storage;
  private final Manifest planned;
  private final UUID commitId = UUID.randomUUID();

  private RetractCommit(Storage storage, Manifest planned) {
    this.storage = storage;
    this.planned = planned;
  }

  /**
   * Makes a commit that takes a creation back. Nothing else may come between. The files belong to
   * nobody but the caller, who commits them no more.
   */
  static RetractCommit ofCreation(Storage storage, Manifest created, NamedFiles named) {
    return new RetractCommit(storage, created) {
      @Override
      boolean fits(Manifest newest) {
        return newest.isTable() && newest.commitId().equals(created.commitId());
      }

      @Override
      OptionalLong collect(Manifest newest) {
        named.refresh();
        return newest.sweptBeforeMillis();
      }
    };
  }

  /**
   * Makes a commit that drops a table, whatever was committed to the table meanwhile.
   *
   * <p>A creation that was tried before with an unknown outcome may have been among the versions,
   * and may be tried again. So no version after this one adds a file that was there before the
   * newest of them: all files that they name were.
   */
  static RetractCommit ofTable(Storage storage, Manifest planned, NamedFiles named) {
    return new RetractCommit(storage, planned) {
      @Override
      boolean fits(Manifest newest) {
        return newest.isTable() && newest.tableId().equals(planned.tableId());
      }

      @Override
      OptionalLong collect(Manifest newest) {
        named.refresh();
        named.requireWritable();
        MovedAside.requireNone(storage);
        return storage
            .find(ManifestNames.nameOf(newest.version()))
            .map(file -> later(newest.sweptBeforeMillis(), file.modifiedMillis() + 1))
            .orElse(newest.sweptBeforeMillis());
      }
    };
  }

  /**
   * Makes a commit that says, where there is no table, what a sweep is about to delete. A creation
   * that is under way may have written the files.
   *
   * @param planned the retraction after which the storage's clock was read
   * @param beforeMillis the sweep deletes only files that were last changed before that time, by
   *     the storage's clock
   * @param storageMillis what the storage's clock said
   */
  static RetractCommit ofSweep(
      Storage storage, Manifest planned, long beforeMillis, long storageMillis) {
    return new RetractCommit(storage, planned) {
      @Override
      boolean fits(Manifest newest) {
        return !newest.isTable();
      }

      @Override
      OptionalLong collect(Manifest newest) {
        if (!newest.commitId().equals(planned.commitId())) {
          return later(newest.sweptBeforeMillis(), beforeMillis);
        }
        // A drop is a millisecond ahead; whoever is further ahead had a clock that was wrong.
        return newest
            .retention()
            .withSweptBefore(beforeMillis, storageMillis + 1)
            .sweptBeforeMillis();
      }
    };
  }

  private static OptionalLong later(OptionalLong before, long millis) {
    return OptionalLong.of(Math.max(before.orElse(millis), millis));
  }

  /** Tells whether the commit may follow the newest version or retraction. */
  abstract boolean fits(Manifest newest);

  /**
   * Collects the files that the newest version and those before name.
   *
   * @return the time before which no file was changed last that a later version adds
   */
  abstract OptionalLong collect(Manifest newest);

  @Override
  public final UUID commitId() {
    return commitId;
  }

  @Override
  public final OptionalLong baseVersion() {
    return OptionalLong.of(planned.version());
  }

  @Override
  public final boolean isDone(Manifest newest) {
    return false;
  }

  @Override
  public final Optional<SinceBase> sinceBase() {
    return Optional.empty();
  }

  /** The next version requires it, which knows a retraction as well. */
  @Override
  public final void requireFits(Optional<Manifest> newest) {}

  private Manifest required(Optional<Manifest> last) {
    return last.filter(this::fits)
        .orElseThrow(() -> new CommitConflictException(
            storage.location(),
            "Cannot drop table " + planned.tableId() + " of " + storage.location() + ": "
                + last.filter(Manifest::isTable)
                    .map(manifest -> manifest.tableId().equals(planned.tableId())
                        ? "another version was committed since"
                        : "it was dropped meanwhile, and another table stands there now")
                    .orElse("it was dropped meanwhile")
                + "; nothing was deleted"));
  }

  @Override
  public final Manifest next(Optional<Manifest> last, long nowMillis, List<String> written) {
    Manifest before = required(last);
    OptionalLong sweptBeforeMillis = collect(before);
    Head head = Head.after(
        last,
        commitId,
        OptionalLong.of(before.version()),
        nowMillis,
        Manifest.RETRACT,
        Map.of("user", System.getProperty("user.name", "")));
    return new Manifest(
        head,
        before.schema(),
        before.nextFieldId(),
        List.of(),
        List.of(),
        Map.of(),
        Optional.empty(),
        new Retention(head.asRecords(), head.version(), List.of(), sweptBeforeMillis));
  }
}
