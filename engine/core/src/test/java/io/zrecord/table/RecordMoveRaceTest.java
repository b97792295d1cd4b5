package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.RecordMoves;
import io.zrecord.changes.TableChanges;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.internal.format.Origins;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.internal.shard.write.Patches;
import io.zrecord.read.IndexSet;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.RebalanceResult;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.Interleavings.Work;
import io.zrecord.testing.Budget;
import io.zrecord.testing.MemoryStorage;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Records that are moved to another partition twice, at once with each other and with rebalances,
 * in every order of the calls: each record is there once, where the last move has put it. A version
 * pairs the record that it deleted with the one that it inserted unless the shard was rebalanced
 * since the move was planned, and never pairs two records.
 */
final class RecordMoveRaceTest {
  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final Instant OLD = NOW.minus(Duration.ofHours(9));
  private static final InstantSource CLOCK = InstantSource.fixed(NOW);
  private static final RebalanceOptions ALL = RebalanceOptions.defaults()
      .withAllShards()
      .withShardBytes(1 << 20, 1 << 20)
      .withWrite(WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE));

  /** Each order reads all versions, so that fewer are tried than elsewhere unless all are. */
  private static final int MOST_ORDERS = 500;

  /**
   * A commit that moved records.
   *
   * @param origins the shard that had each record in the version that the move was planned on
   */
  private record Move(String kind, Map<Long, UUID> origins) {}

  /** A table of the records 1 to 3 in one partition, and 4 in another. */
  private static class World implements Interleavings.World {
    final MemoryStorage storage = new MemoryStorage(() -> NOW);
    final TreeMap<Long, Move> moves = new TreeMap<>();
    private final Map<Long, List<Long>> numbers = new TreeMap<>();
    int refused;
    int rebalanced;
    boolean isEnded;

    World() {
      RecordTable.at(storage, InstantSource.fixed(OLD))
          .commit(PartitionedRecords.create(List.of(
              PartitionedRecords.shard(storage, Durability.NONE, "a", 1, 2, 3),
              PartitionedRecords.shard(storage, Durability.NONE, "b", 4))));
    }

    @Override
    public Storage storage() {
      return storage;
    }

    @Override
    public Storage seen(Storage ordered) {
      return new WithoutHint(ordered);
    }

    RecordTable table() {
      return RecordTable.at(storage, CLOCK);
    }

    @Override
    public void check() {
      isEnded = true;
      Map<Long, String> expected = new TreeMap<>(Map.of(1L, "a", 2L, "a", 3L, "a", 4L, "b"));
      moves
          .values()
          .forEach(
              move -> move.origins.keySet().forEach(number -> expected.put(number, move.kind)));
      TableSnapshot latest = table().latest();
      assertThat(PartitionedRecords.numbers(latest))
          .as("%s", storage.log())
          .containsExactlyInAnyOrderElementsOf(expected.keySet());
      assertThat(PartitionedRecords.kinds(latest)).isEqualTo(expected);
      for (long version = 1; version <= latest.version(); version++) {
        requirePaired(version);
      }
      for (long from : new TreeSet<>(List.of(0L, latest.version() - 1))) {
        requireTold(from, latest.version());
      }
    }

    /** Requires that a version tells the pairs of its move whose shards were still there. */
    private void requirePaired(long version) {
      TableSnapshot before = table().version(version - 1);
      Set<UUID> there = before.shards().stream().map(ShardSummary::id).collect(Collectors.toSet());
      Set<Long> expected = new TreeSet<>();
      Move move = moves.get(version);
      if (move != null) {
        move.origins.forEach((number, shard) -> {
          if (there.contains(shard)) {
            expected.add(number);
          }
        });
      }
      List<Long> numbersBefore = numbers(version - 1);
      List<Long> numbers = numbers(version);
      RecordMoves told = TableChanges.of(storage).of(version).moves(storage);
      Set<Long> found = new TreeSet<>();
      for (int i = 0; i < told.count(); i++) {
        long number = numbers.get((int) told.after(i));
        assertThat(numbersBefore.get((int) told.before(i))).isEqualTo(number);
        found.add(number);
      }
      assertThat(found).as("%d of %s", version, moves).isEqualTo(expected).hasSize(told.count());
    }

    /** Requires that records that were moved between two versions are told, each once. */
    private void requireTold(long from, long to) {
      Set<Long> moved = new TreeSet<>();
      moves
          .subMap(from, false, to, true)
          .values()
          .forEach(move -> moved.addAll(move.origins.keySet()));
      List<Long> before = numbers(from);
      List<Long> after = numbers(to);
      RecordChanges told = TableChanges.of(storage).net(from, to).records();
      assertThat(told.deleted()).isEqualTo(indices(before, moved));
      assertThat(told.inserted()).isEqualTo(indices(after, moved));
      assertThat(told.changedBefore().isEmpty()).isTrue();
    }

    private List<Long> numbers(long version) {
      return numbers.computeIfAbsent(
          version, number -> PartitionedRecords.numbers(table().version(number)));
    }

    private static IndexSet indices(List<Long> numbers, Set<Long> some) {
      return IndexSet.of(IntStream.range(0, numbers.size())
          .filter(i -> some.contains(numbers.get(i)))
          .mapToLong(i -> i)
          .toArray());
    }
  }

  /** A table whose records 1 and 2 were moved once, so that they are in a shard of their own. */
  private static final class Moved extends World {
    Moved() {
      move("c", 1, 2).run(this, storage);
    }
  }

  private static Work<World> move(String kind, long... numbers) {
    return (world, storage) -> {
      TableSnapshot base = RecordTable.at(storage, CLOCK).latest();
      List<Long> present = PartitionedRecords.numbers(base);
      Map<Long, UUID> origins = new TreeMap<>();
      for (long number : numbers) {
        int ordinal = base.shardOf(present.indexOf(number));
        origins.put(number, base.shards().get(ordinal).id());
      }
      try {
        long version = PartitionedRecords.moving(base, Durability.NONE, kind, numbers)
            .commit(RecordTable.at(storage, CLOCK))
            .version();
        world.moves.put(version, new Move(kind, origins));
      } catch (CommitConflictException e) {
        world.refused++;
      }
    };
  }

  private static void rebalance(World world, Storage storage) {
    RebalancePlan plan = RebalancePlan.of(RecordTable.at(storage, CLOCK).latest(), ALL);
    RebalanceResult result = TableRebalance.of(plan).threads(1).run();
    world.rebalanced += result.groups();
    world.refused += result.failures().size();
  }

  @Test
  void ofTwoMovesOfARecordOneIsRefusedUnlessItComesLater() throws Exception {
    List<World> worlds = Interleavings.ended(World::new, List.of(move("c", 1, 2), move("d", 1)));
    assertThat(worlds).allMatch(world -> world.moves.size() + world.refused == 2);
    assertThat(worlds)
        .anyMatch(world -> world.refused == 1 && world.moves.get(1L).kind.equals("c"))
        .anyMatch(world -> world.refused == 1 && world.moves.get(1L).kind.equals("d"))
        .anyMatch(world -> world.moves.size() == 2);
  }

  /** Runs a share of about so many orders, until some world is as each predicate says. */
  private static List<World> some(
      int about, Supplier<World> worlds, Work<World> moves, List<Predicate<World>> shown)
      throws Exception {
    List<World> begun = new ArrayList<>();
    double share = Budget.shareOfOrders();
    double most = share < 1 ? (double) Budget.of(MOST_ORDERS) / about : 1;
    Interleavings.some(
        about,
        Math.min(share, most),
        Budget.seed(),
        () -> {
          begun.add(worlds.get());
          return begun.get(begun.size() - 1);
        },
        List.of(moves, RecordMoveRaceTest::rebalance),
        () -> shown.stream().allMatch(is -> ended(begun).stream().anyMatch(is)));
    return ended(begun);
  }

  private static List<World> ended(List<World> begun) {
    return begun.stream().filter(world -> world.isEnded).toList();
  }

  @Test
  void twoMovesBesideARebalanceBothSucceed() throws Exception {
    Work<World> twice = (world, storage) -> {
      move("c", 1, 2).run(world, storage);
      move("d", 1).run(world, storage);
    };
    assertThat(some(2778, World::new, twice, List.of()))
        .allMatch(world -> world.moves.size() == 2 && world.refused == 0);
  }

  @Test
  void aSecondMoveAndARebalanceBothSucceed() throws Exception {
    assertThat(some(560, Moved::new, move("d", 1), List.of()))
        .allMatch(world -> world.moves.size() == 2 && world.refused == 0)
        .allMatch(world -> world.rebalanced > 0);
  }

  /** A rebalance that comes later finds the shard gone, and leaves the others of its group. */
  @Test
  void aSecondMoveOfAllRecordsOfAShardAndARebalanceLoseNothing() throws Exception {
    List<Predicate<World>> both = List.of(world -> world.refused == 0, world -> world.refused == 1);
    assertThat(some(433, Moved::new, move("d", 1, 2), both))
        .allMatch(world -> world.moves.size() == 2);
  }

  /** Control: who believes each place pairs other records. */
  @Test
  void withoutALookAtWhatWasDeletedOtherRecordsArePaired() {
    World world = new World();
    TableSnapshot base = world.table().latest();
    MergeChange late = PartitionedRecords.moving(base, Durability.NONE, "c", 3);
    RowChange other = RowChange.of(base);
    other.delete(0);
    other.commit(world.table());
    rebalance(world, world.storage);
    TableSnapshot before = world.table().latest();
    TableSnapshot after = late.commit(world.table());
    ShardSummary inserted = after.shards().get(after.shards().size() - 1);
    Origins origins = TablesFile.open(world.storage, inserted, inserted.tables().get(0), kept -> {})
        .origins();
    int place = (int) origins.place(0);
    assertThat(PartitionedRecords.numbers(base).get(place)).isEqualTo(3);
    assertThat(PartitionedRecords.numbers(before).get(place)).isEqualTo(4);
    assertThat(TableChanges.of(world.storage)
            .of(after.version())
            .moves(world.storage)
            .count())
        .isZero();
  }

  /** Control: who takes the newest shard for the one that was planned on has a record twice. */
  @Test
  void withoutAComparisonOfShardsARecordIsThereTwice() throws Exception {
    List<World> worlds =
        Interleavings.ended(Unchecked::new, List.of(move("c", 1), (world, storage) -> {
          RecordTable table = RecordTable.at(storage, CLOCK);
          ShardSummary planned = table.latest().shards().get(0);
          if (planned.patch() != null) {
            return;
          }
          ShardSummary patched = Patches.write(storage, planned, new long[] {0}, Map.of());
          ShardSummary added = PartitionedRecords.shard(storage, Durability.NONE, "d", 1);
          for (boolean isDone = false; !isDone; ) {
            TableSnapshot newest = table.latest();
            try {
              table.commit(TableChange.of(TableChange.Kind.MERGE, PartitionedRecords.SCHEMA)
                  .base(newest)
                  .replacements(List.of(
                      TableChange.Replacement.ofRows(newest.shards().get(0), List.of(patched))))
                  .shards(List.of(added))
                  .build());
              isDone = true;
            } catch (CommitConflictException e) {
              // Takes the next newest shard.
            }
          }
        }));
    assertThat(worlds)
        .anyMatch(world -> timesOfFirst(world) == 1)
        .anyMatch(world -> timesOfFirst(world) == 2);
  }

  /** A table that may have a record twice. */
  private static final class Unchecked extends World {
    @Override
    public void check() {}
  }

  private static int timesOfFirst(World world) {
    return Collections.frequency(PartitionedRecords.numbers(world.table().latest()), 1L);
  }
}
