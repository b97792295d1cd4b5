package io.zrecord.warehouse;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.table.Publication;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.LongFunction;

/** The states of a namespace, of which the one with the greatest number holds. Thread-safe. */
final class NamespaceLog {
  /** Directory of the states, in that of the namespace. */
  static final String DIRECTORY = "_namespace";

  /** A namespace is changed rarely, and its states are never deleted. */
  private static final long MOST_STATES = 10_000;

  /** Whoever loses so many races in a row is in a loop of somebody else. */
  private static final int MOST_RACES = 100;

  private final Storage root;
  private final Namespace namespace;
  private final String directory;

  NamespaceLog(Storage root, Namespace namespace) {
    this.root = root;
    this.namespace = namespace;
    this.directory = namespace.pathOf(DIRECTORY);
  }

  /** Returns the state that holds; empty if there is none, or the namespace was dropped. */
  Optional<NamespaceVersion> newest() {
    return held(greatest());
  }

  /** Tells whether there is a state that holds, damaged or of a later release or not. */
  boolean exists() {
    try {
      return isHeld(greatest());
    } catch (UnsupportedFormatException e) {
      return true;
    }
  }

  /** Returns the number of the state that counts; -1 if there is none. */
  private long greatest() {
    return root.list(directory).stream()
        .map(StoredFile::name)
        .flatMapToLong(name -> ManifestNames.version(name).stream())
        .max()
        .orElse(-1);
  }

  private Optional<NamespaceVersion> held(long greatest) {
    return greatest < 0
        ? Optional.empty()
        : Optional.of(read(greatest)).filter(state -> !state.isDropped());
  }

  /** What is damaged may be the state of a namespace that exists. */
  private boolean isHeld(long greatest) {
    try {
      return held(greatest).isPresent();
    } catch (CorruptDataException e) {
      return true;
    }
  }

  private NamespaceVersion read(long number) {
    String name = ManifestNames.nameOf(directory, number);
    return NamespaceVersion.read(root.pathOf(name), root.read(name, SealedJson.MAX_BYTES));
  }

  /**
   * Publishes the state after the one that holds. If somebody else was first, the change is made
   * again on top of theirs.
   *
   * @param change makes the next state of the one that holds; empty if there is nothing to do
   * @return the published state; empty if there was nothing to do
   * @throws CommitConflictException if others were first again and again
   */
  Optional<NamespaceVersion> publish(
      Function<Optional<NamespaceVersion>, Optional<NamespaceVersion>> change) {
    return publishAfter(greatest -> change.apply(held(greatest)));
  }

  /**
   * Publishes that the namespace was dropped, also after a state that is damaged. Does nothing if
   * none holds.
   */
  void drop(long millis) {
    publishAfter(greatest ->
        isHeld(greatest) ? Optional.of(NamespaceVersion.dropped(millis)) : Optional.empty());
  }

  private Optional<NamespaceVersion> publishAfter(LongFunction<Optional<NamespaceVersion>> change) {
    for (int race = 0; race < MOST_RACES; race++) {
      long greatest = greatest();
      Optional<NamespaceVersion> next = change.apply(greatest);
      if (next.isEmpty()) {
        return next;
      }
      long number = greatest + 1;
      if (number == MOST_STATES) {
        throw new IllegalStateException("Cannot change the namespace " + namespace + ": it was"
            + " changed " + MOST_STATES + " times, and more are not kept; use another namespace");
      }
      UUID commitId = next.get().commitId();
      String name = ManifestNames.nameOf(directory, number);
      if (new Publication(root)
          .publish(name, next.get().write(), commitId, () -> read(number).commitId())) {
        return next;
      }
    }
    throw new CommitConflictException(
        root.pathOf(directory),
        "Cannot change the namespace " + namespace + " of " + root.location() + ": others were"
            + " first " + MOST_RACES + " times in a row; try again");
  }
}
