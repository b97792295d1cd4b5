package io.zrecord.internal.table;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.JsonTuple;
import io.zrecord.shard.ShardSummary;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * The shards of a list in whose place others stand, in rising order (FORMAT.md section 7.5). The
 * file of the list stays as it is, so that a change of some shards need not write all others.
 * Immutable.
 */
public record ReplacedShards(List<ReplacedShard> inOrder) {
  /** No shard is replaced. */
  public static final ReplacedShards NONE = new ReplacedShards(List.of());

  private static final String NAME = "replaced";

  public ReplacedShards {
    inOrder = List.copyOf(inOrder);
  }

  public boolean isEmpty() {
    return inOrder.isEmpty();
  }

  /** Returns the shards that stand in the place of others. */
  public Stream<ShardSummary> shards() {
    return inOrder.stream().flatMap(replaced -> replaced.shards().stream());
  }

  /** Returns the ordinals of the replaced shards. */
  public Set<Integer> ordinals() {
    Set<Integer> ordinals = new HashSet<>();
    inOrder.forEach(replaced -> ordinals.add(replaced.ordinal()));
    return ordinals;
  }

  /** Returns how much of a file this takes, in shards. */
  public int weight() {
    return inOrder.stream()
        .mapToInt(replaced -> Math.max(1, replaced.shards().size()))
        .sum();
  }

  /** Returns how many shards there are more than without this; negative if there are less. */
  int addedShards() {
    return inOrder.stream()
        .mapToInt(replaced -> replaced.shards().size() - 1)
        .reduce(0, Math::addExact);
  }

  /**
   * Returns how many records there are more than without this; negative if there are less.
   *
   * @throws ArithmeticException if that is beyond 64 bits
   */
  long addedRecords() {
    long added = 0;
    for (ReplacedShard replaced : inOrder) {
      for (ShardSummary shard : replaced.shards()) {
        added = Math.addExact(added, shard.length());
      }
      added = Math.subtractExact(added, replaced.length());
    }
    return added;
  }

  /**
   * Returns the shards that stand where some shards are in the end.
   *
   * @param resource what says what is replaced, for messages
   * @param shards the shards, of which none is replaced yet
   * @throws CorruptDataException if this is not about these shards, or a shard stands twice
   */
  public List<ShardSummary> in(String resource, List<ShardSummary> shards) {
    List<ShardSummary> standing = exchangedIn(resource, shards);
    if (!isEmpty()) {
      requireOnce(resource, this, standing);
    }
    return standing;
  }

  /**
   * Returns the shards that stand where some shards are, until an element above replaces others.
   *
   * @param resource what says what is replaced, for messages
   * @param shards the shards, of which none is replaced yet
   * @throws CorruptDataException if this is not about these shards
   */
  public List<ShardSummary> exchangedIn(String resource, List<ShardSummary> shards) {
    if (isEmpty()) {
      return shards;
    }
    List<ShardSummary> standing = new ArrayList<>();
    int from = 0;
    for (ReplacedShard replaced : inOrder) {
      requireThere(resource, replaced, shards.size());
      ShardSummary shard = shards.get(replaced.ordinal());
      requireLength(resource, replaced, shard);
      standing.addAll(shards.subList(from, replaced.ordinal()));
      standing.addAll(replaced.shards());
      from = replaced.ordinal() + 1;
    }
    standing.addAll(shards.subList(from, shards.size()));
    return standing;
  }

  private static void requireThere(String resource, ReplacedShard replaced, int shardCount) {
    if (replaced.ordinal() >= shardCount) {
      throw corrupt(
          resource,
          "shard " + replaced.ordinal() + " is replaced, but there are " + shardCount + " shards");
    }
  }

  private static void requireLength(String resource, ReplacedShard replaced, ShardSummary shard) {
    if (replaced.length() != shard.length()) {
      throw corrupt(
          resource,
          "a replaced shard has " + replaced.length() + " records, but shard " + shard.id()
              + ", the one with its ordinal " + replaced.ordinal() + ", has " + shard.length());
    }
  }

  /** Requires that a shard which stands in the place of another stands nowhere else. */
  private static void requireOnce(
      String resource, ReplacedShards replaced, List<ShardSummary> standing) {
    Set<UUID> ids = new HashSet<>();
    replaced.shards().forEach(shard -> ids.add(shard.id()));
    long count = replaced.shards().count();
    if (ids.size() != count
        || standing.stream().filter(shard -> ids.contains(shard.id())).count() != count) {
      throw corrupt(resource, "a shard stands in the place of another, and once more beside that");
    }
  }

  /**
   * Returns what is replaced altogether if shards are replaced among those that stand after this.
   *
   * @param resource what says what is replaced, for messages
   * @throws CorruptDataException if {@code later} is not about these shards
   */
  ReplacedShards then(String resource, ReplacedShards later) {
    if (isEmpty() || later.isEmpty()) {
      return isEmpty() ? later : this;
    }
    List<ReplacedShard> all = new ArrayList<>();
    List<ReplacedShard> next = later.inOrder;
    int at = 0;
    int shift = 0;
    for (ReplacedShard earlier : inOrder) {
      int first = earlier.ordinal() + shift;
      while (at < next.size() && next.get(at).ordinal() < first) {
        all.add(next.get(at++).movedBy(-shift));
      }
      List<ShardSummary> standing = new ArrayList<>();
      for (int i = 0; i < earlier.shards().size(); i++) {
        ShardSummary shard = earlier.shards().get(i);
        if (at < next.size() && next.get(at).ordinal() == first + i) {
          requireLength(resource, next.get(at), shard);
          standing.addAll(next.get(at++).shards());
        } else {
          standing.add(shard);
        }
      }
      all.add(earlier.with(standing));
      shift += earlier.shards().size() - 1;
    }
    while (at < next.size()) {
      all.add(next.get(at++).movedBy(-shift));
    }
    return new ReplacedShards(all);
  }

  /**
   * Returns what of this concerns each of some lists that follow one another.
   *
   * @param resource what says what is replaced, for messages
   * @throws CorruptDataException if a shard is replaced that is in none of the lists
   */
  public List<ReplacedShards> ofEach(String resource, List<ShardListFile> lists) {
    List<ReplacedShards> parts = new ArrayList<>();
    int at = 0;
    int first = 0;
    for (ShardListFile list : lists) {
      List<ReplacedShard> part = new ArrayList<>();
      int end = first + list.shardCount();
      while (at < inOrder.size() && inOrder.get(at).ordinal() < end) {
        part.add(inOrder.get(at++).movedBy(-first));
      }
      parts.add(new ReplacedShards(part));
      first = end;
    }
    if (at < inOrder.size()) {
      requireThere(resource, inOrder.get(at), first);
    }
    return parts;
  }

  /** Returns the reverse of {@link #ofEach}. */
  public static ReplacedShards joined(List<ShardListFile> lists, List<ReplacedShards> parts) {
    List<ReplacedShard> all = new ArrayList<>();
    int first = 0;
    for (int i = 0; i < lists.size(); i++) {
      int shift = first;
      parts.get(i).inOrder.forEach(replaced -> all.add(replaced.movedBy(shift)));
      first += lists.get(i).shardCount();
    }
    return new ReplacedShards(all);
  }

  void write(ObjectNode node, FieldSets fieldSets) {
    if (isEmpty()) {
      return;
    }
    ArrayNode array = node.putArray(NAME);
    for (ReplacedShard replaced : inOrder) {
      ArrayNode shards =
          array.addArray().add(replaced.ordinal()).add(replaced.length()).addArray();
      replaced.shards().forEach(shard -> shards.add(ShardJson.write(shard, fieldSets)));
    }
  }

  /** Reads the member of an element of lists; nothing is replaced if it is missing. */
  static ReplacedShards read(JsonObject json, FieldSets fieldSets) {
    if (!json.has(NAME)) {
      return NONE;
    }
    List<ReplacedShard> inOrder = new ArrayList<>();
    int next = 0;
    for (JsonTuple tuple : JsonTuple.all(json, NAME, 3, 3)) {
      int ordinal = (int) tuple.integer(0, next, Integer.MAX_VALUE - 1);
      List<ShardSummary> shards = tuple.objects(2).stream()
          .map(shard -> ShardJson.read(shard, fieldSets))
          .toList();
      inOrder.add(new ReplacedShard(ordinal, tuple.integer(1, 1, Long.MAX_VALUE), shards));
      next = ordinal + 1;
    }
    return new ReplacedShards(inOrder);
  }

  /** Requires that each ordinal is one of so many shards. */
  void requireBelow(JsonObject json, long shardCount) {
    Optional<ReplacedShard> last =
        isEmpty() ? Optional.empty() : Optional.of(inOrder.get(inOrder.size() - 1));
    if (last.filter(replaced -> replaced.ordinal() >= shardCount).isPresent()) {
      throw json.corrupt("shard " + last.get().ordinal() + " of a list is replaced, which has "
          + shardCount + " shards");
    }
  }

  /** Requires that no shard stands in the place of two others, or also among some shards. */
  static void requireOnce(JsonObject json, List<ShardListFile> lists, List<ShardSummary> standing) {
    Set<UUID> ids = new HashSet<>();
    boolean isOnce = lists.stream()
        .flatMap(list -> list.replaced().shards())
        .allMatch(shard -> ids.add(shard.id()));
    if (!isOnce || standing.stream().anyMatch(shard -> ids.contains(shard.id()))) {
      throw json.corrupt("a shard stands in the place of another, and once more beside that");
    }
  }

  static CorruptDataException corrupt(String resource, String reason) {
    return new CorruptDataException(
        resource, "Cannot read " + resource + ": " + reason + "; restore it from a copy");
  }
}
