package io.zrecord.warehouse;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.table.Publication;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

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

  /** A state, and the number of its file. */
  private record Numbered(long number, NamespaceVersion state) {}

  /** Returns the state that holds; empty if there is none, or the namespace was dropped. */
  Optional<NamespaceVersion> newest() {
    return find().map(Numbered::state).filter(state -> !state.isDropped());
  }

  private Optional<Numbered> find() {
    long greatest = root.list(directory).stream()
        .map(StoredFile::name)
        .flatMapToLong(name -> ManifestNames.version(name).stream())
        .max()
        .orElse(-1);
    return greatest < 0 ? Optional.empty() : Optional.of(new Numbered(greatest, read(greatest)));
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
    for (int race = 0; race < MOST_RACES; race++) {
      Optional<Numbered> before = find();
      Optional<NamespaceVersion> next =
          change.apply(before.map(Numbered::state).filter(state -> !state.isDropped()));
      if (next.isEmpty()) {
        return next;
      }
      long number = before.map(numbered -> numbered.number + 1).orElse(0L);
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
