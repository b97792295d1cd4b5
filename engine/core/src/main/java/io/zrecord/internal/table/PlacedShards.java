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
import org.jspecify.annotations.Nullable;

/**
 * Shards of a version that are not in the lists of shards of another one, with their places. Of a
 * list of both versions, these are the shards in whose place the other version has others. Takes
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

  /**
   * Reads the shards of a version that are not in lists of another version. Reads neither elements
   * that both have nor the file of a list in which both have replaced the same shards.
   */
  public static PlacedShards notIn(ManifestLog log, Manifest other, Manifest version) {
    Set<ShardListFile> shared = new HashSet<>(other.lists());
    shared.retainAll(new HashSet<>(version.lists()));
    Map<String, ShardListFile> others = new HashMap<>();
    other.lists().stream()
        .filter(list -> !shared.contains(list))
        .flatMap(list -> lists(log, list).stream())
        .forEach(list -> others.put(list.file(), list));
    List<Placed> placed = new ArrayList<>();
    long first = 0;
    for (ShardListFile element : version.lists()) {
      if (!shared.contains(element)) {
        long next = first;
        for (ShardListFile list : lists(log, element)) {
          add(placed, next, log, list, others.get(list.file()));
          next += list.length();
        }
      }
      first += element.length();
    }
    add(placed, first, version.shards());
    return new PlacedShards(placed);
  }

  private static List<ShardListFile> lists(ManifestLog log, ShardListFile list) {
    return list.isOfLists() ? log.members(list) : List.of(list);
  }

  /** Adds the shards of a list that another version does not have in the list at their places. */
  private static void add(
      List<Placed> placed,
      long first,
      ManifestLog log,
      ShardListFile list,
      @Nullable ShardListFile other) {
    if (other == null) {
      add(placed, first, log.shards(list));
    } else if (!list.replaced().equals(other.replaced())) {
      List<ShardSummary> inFile = log.shardsOfFile(list);
      // Requires that what is replaced is there.
      log.standing(list, inFile);
      Map<Integer, List<ShardSummary>> standing = byOrdinal(list);
      Map<Integer, List<ShardSummary>> others = byOrdinal(other);
      long next = first;
      for (int i = 0; i < inFile.size(); i++) {
        List<ShardSummary> unreplaced = List.of(inFile.get(i));
        List<ShardSummary> here = standing.getOrDefault(i, unreplaced);
        if (!here.equals(others.getOrDefault(i, unreplaced))) {
          add(placed, next, here);
        }
        next += here.stream().mapToLong(ShardSummary::length).sum();
      }
    }
  }

  private static Map<Integer, List<ShardSummary>> byOrdinal(ShardListFile list) {
    Map<Integer, List<ShardSummary>> shards = new HashMap<>();
    list.replaced()
        .inOrder()
        .forEach(replaced -> shards.put(replaced.ordinal(), replaced.shards()));
    return shards;
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
