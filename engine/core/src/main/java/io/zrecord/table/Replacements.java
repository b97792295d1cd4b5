package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.shard.ShardSummary;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Replaces runs of shards by other shards while the shards of a version are visited in order.
 * Belongs to one thread.
 */
final class Replacements {
  private final String location;
  private final String operation;
  private final Map<UUID, TableChange.Replacement> byFirst = new HashMap<>();
  private final Map<UUID, TableChange.Replacement> byAny = new HashMap<>();
  private TableChange.@Nullable Replacement current;
  private int matched;

  Replacements(String location, String operation, List<TableChange.Replacement> runs) {
    this.location = location;
    this.operation = operation;
    for (TableChange.Replacement run : runs) {
      byFirst.put(run.removed().get(0).id(), run);
      for (ShardSummary shard : run.removed()) {
        if (byAny.put(shard.id(), run) != null) {
          throw new IllegalArgumentException(
              "Shard " + shard.id() + " is to be replaced twice; name it in one replacement only");
        }
      }
    }
  }

  /** Tells whether nothing is left to replace, or nothing was to be replaced. */
  boolean isDone() {
    return current == null && byFirst.isEmpty();
  }

  /** Tells whether one of the given shards is replaced, or is where the rest of a run should be. */
  boolean touch(List<ShardSummary> shards) {
    return current != null || shards.stream().anyMatch(shard -> byAny.containsKey(shard.id()));
  }

  /**
   * Returns what takes the place of a shard: the shard itself, nothing, or at the end of a run its
   * replacements.
   */
  List<ShardSummary> next(ShardSummary shard) {
    TableChange.Replacement run = current != null ? current : byFirst.remove(shard.id());
    if (run == null) {
      if (byAny.containsKey(shard.id())) {
        throw conflict(shard.id());
      }
      return List.of(shard);
    }
    // A shard of that id may have another meta file, and with it other values.
    if (!run.removed().get(matched).equals(shard)) {
      throw conflict(run.removed().get(matched).id());
    }
    matched++;
    if (matched < run.removed().size()) {
      current = run;
      return List.of();
    }
    current = null;
    matched = 0;
    return run.added();
  }

  /** Checks that all runs were replaced. Call this after the last shard. */
  void requireDone() {
    if (current != null || !byFirst.isEmpty()) {
      UUID missing = current != null
          ? current.removed().get(matched).id()
          : byFirst.keySet().iterator().next();
      throw conflict(missing);
    }
  }

  private CommitConflictException conflict(UUID shard) {
    return new CommitConflictException(
        location,
        "Cannot commit the " + operation + " of " + location + ": shard " + shard
            + " was replaced, changed or removed by another commit since it was planned; plan again");
  }
}
