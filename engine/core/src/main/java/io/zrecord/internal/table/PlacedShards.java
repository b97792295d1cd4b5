package io.zrecord.internal.table;

import io.zrecord.shard.ShardSummary;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Shards of a version that are not in the lists of shards of another one, with their places. Takes
 * some hundred bytes a shard. Immutable.
 */
public final class PlacedShards {
  private final List<Placed> inOrder;
  private final Map<UUID, Placed> byId = new HashMap<>();

  /**
   * Says where a shard is.
   *
   * @param firstIndex index in the version of the first record
   */
  public record Placed(ShardSummary shard, long firstIndex) {
    long endIndex() {
      return firstIndex + shard.length();
    }
  }

  private PlacedShards(List<Placed> inOrder) {
    this.inOrder = inOrder;
    inOrder.forEach(placed -> byId.put(placed.shard.id(), placed));
  }

  /** Reads the shards of a version that are not in lists of another version. */
  public static PlacedShards notIn(ManifestLog log, Manifest other, Manifest version) {
    Set<String> shared = new HashSet<>(
        log.lists(other, ofLists -> {}).stream().map(ShardListFile::file).toList());
    List<Placed> placed = new ArrayList<>();
    long first = 0;
    for (ShardListFile list : log.lists(version, ofLists -> {})) {
      if (!shared.contains(list.file())) {
        add(placed, first, log.shards(list));
      }
      first += list.length();
    }
    add(placed, first, version.shards());
    return new PlacedShards(placed);
  }

  private static void add(List<Placed> placed, long first, List<ShardSummary> shards) {
    long next = first;
    for (ShardSummary shard : shards) {
      placed.add(new Placed(shard, next));
      next += shard.length();
    }
  }

  /** Returns the shards in the order of their records. */
  public List<Placed> inOrder() {
    return inOrder;
  }

  /** Returns a shard; empty if the version does not have it, or in a list of the other version. */
  public Optional<Placed> find(UUID id) {
    return Optional.ofNullable(byId.get(id));
  }

  /** Returns the shard with a record; empty if that is in a list of the other version. */
  public Optional<Placed> at(long index) {
    int low = 0;
    int high = inOrder.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      Placed placed = inOrder.get(middle);
      if (index < placed.firstIndex) {
        high = middle - 1;
      } else if (index >= placed.endIndex()) {
        low = middle + 1;
      } else {
        return Optional.of(placed);
      }
    }
    return Optional.empty();
  }
}
