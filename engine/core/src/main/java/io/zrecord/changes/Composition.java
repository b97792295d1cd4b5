package io.zrecord.changes;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Puts the changes of neighbouring versions together. Those of as many versions are joined, so that
 * each change is looked at a number of times that grows with the logarithm of the versions. Belongs
 * to one thread.
 */
final class Composition {
  /** Changes of runs of versions, the oldest first. */
  private final Deque<Run> runs = new ArrayDeque<>();

  private record Run(int versions, RecordChanges changes) {}

  /** Adds the changes of the version before those that were added. */
  void precede(RecordChanges changes) {
    Run run = new Run(1, changes);
    while (!runs.isEmpty() && runs.peek().versions == run.versions) {
      Run next = runs.pop();
      run = new Run(run.versions + next.versions, run.changes.followedBy(next.changes));
    }
    runs.push(run);
  }

  /** Returns what all changes that were added do together. */
  RecordChanges all() {
    RecordChanges all = RecordChanges.NONE;
    for (Run run : runs) {
      all = all.followedBy(run.changes);
    }
    return all;
  }
}
