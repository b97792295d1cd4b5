package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.shard.ShardSummary;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Replaces runs of shards by other shards while the shards of a version are visited in order. A
 * shard of which another commit has changed records is carried along if that is possible. Belongs
 * to one thread.
 */
final class Replacements {
  private final Carrier carrier;
  private final boolean isRebalance;
  private final Map<UUID, TableChange.Replacement> byFirst = new LinkedHashMap<>();
  private final Map<UUID, TableChange.Replacement> byAny = new LinkedHashMap<>();
  private TableChange.@Nullable Replacement current;
  /** The shards of the current run as they are now. */
  private final List<ShardSummary> present = new ArrayList<>();

  private boolean isCarried;
  private final List<TableChange.Replacement> carried = new ArrayList<>();

  /**
   * Prepares to replace shards.
   *
   * @param isRebalance whether the runs have the same records in other shards
   */
  Replacements(Carrier carrier, List<TableChange.Replacement> runs, boolean isRebalance) {
    this.carrier = carrier;
    this.isRebalance = isRebalance;
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
    ShardSummary planned = run.removed().get(present.size());
    // A shard of that id may have other tables or another patch, and with it other values.
    if (!planned.equals(shard)) {
      if (!(isRebalance || Carrier.isNarrow(run)) || !Carrier.isOfSameTables(planned, shard)) {
        throw conflict(planned.id());
      }
      isCarried = true;
    }
    present.add(shard);
    if (present.size() < run.removed().size()) {
      current = run;
      return List.of();
    }
    List<ShardSummary> added = run.added();
    if (isCarried) {
      added = carrier.carry(run, List.copyOf(present), isRebalance).added();
      carried.add(run);
    }
    current = null;
    present.clear();
    isCarried = false;
    return added;
  }

  /** Returns the runs in whose place others were written, with what others have changed. */
  List<TableChange.Replacement> carried() {
    return carried;
  }

  /** Returns the runs whose shards were not there. Call this after the last shard. */
  List<TableChange.Replacement> missing() {
    if (current != null) {
      throw conflict(current.removed().get(present.size()).id());
    }
    return List.copyOf(byFirst.values());
  }

  /** Requires that all runs were replaced. Call this after the last shard. */
  void requireDone() {
    List<TableChange.Replacement> missing = missing();
    if (!missing.isEmpty()) {
      throw conflict(missing.get(0).removed().get(0).id());
    }
  }

  /** Makes the conflict of a shard that is not what it was. */
  CommitConflictException conflict(UUID shard) {
    return carrier.conflict(shard, "it was replaced, changed or removed by another commit");
  }
}
