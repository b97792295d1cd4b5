package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.read.FieldReader;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.testing.Budget;
import io.zrecord.testing.MemoryStorage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * A change that was planned before a deletion of another record, and two rebalances with care
 * between them, each of which comes before a call of the commit by chance, or after the commit: the
 * records that were meant are changed, or the change is refused, and no other record is changed.
 */
final class CarriedTwiceRaceTest {
  private static final Instant OLD = Instant.parse("2026-01-01T00:00:00Z");
  private static final Instant NOW = OLD.plus(Duration.ofDays(30));
  private static final Instant LATER = NOW.plus(Duration.ofDays(30));
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);
  private static final RebalanceOptions ALL = RebalanceOptions.defaults()
      .withAllShards()
      .withShardBytes(1 << 20, 1 << 20)
      .withWrite(WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE));

  /** A commit that comes third makes half as many calls, and each attempt makes some more. */
  private static final int MOST_CALLS = 130;

  private final Random random = Budget.random();

  /** What is planned for the values 1 to 5 in two shards. */
  private enum Plan {
    /** The record of 2 is deleted; 3 and 4 become 30 and 40. */
    SOME,
    /** The records of 4 and 5 are deleted, which are the second shard. */
    WHOLE_SHARD
  }

  /** A table of which a change was planned before the record of 1 was deleted. */
  private static final class World {
    private Instant now = OLD;
    private final Plan plan;
    final MemoryStorage storage = new MemoryStorage(() -> now);
    final TableSnapshot base;
    final List<ShardChange> planned = new ArrayList<>();

    World(Plan plan, Instant planned) {
      this.plan = plan;
      base = table(storage)
          .commit(Shards.append(
              OptionalLong.empty(),
              Shards.write(storage, Shards.SCHEMA, 1, 2, 3),
              Shards.write(storage, Shards.SCHEMA, 4, 5)));
      now = planned;
      base.shards().forEach(this::plan);
      now = NOW;
      RowChange other = RowChange.of(base);
      other.delete(0);
      other.commit(table(storage));
    }

    private void plan(ShardSummary shard) {
      boolean isFirst = shard.equals(base.shards().get(0));
      try (ShardChangeWriter writer =
          ShardChangeWriter.open(storage, ChangeBase.of(base), shard, Set.of("value"))) {
        if (plan == Plan.WHOLE_SHARD && !isFirst) {
          writer.delete(0);
          writer.delete(1);
        } else if (plan == Plan.SOME) {
          writer.update(isFirst ? 2 : 0, "value", isFirst ? 30L : 40L);
          if (isFirst) {
            writer.delete(1);
          }
        }
        planned.add(writer.finish());
      }
    }

    /** Returns the table as a program sees it whose clock is that of the storage. */
    RecordTable table(Storage seen) {
      InstantSource clock = () -> now;
      return RecordTable.at(seen, clock);
    }

    private void rebalance() {
      RebalancePlan plan = RebalancePlan.of(table(storage).latest(), ALL);
      assertThat(TableRebalance.of(plan).threads(1).run().failures()).isEmpty();
    }

    /** Lets a month pass, and cares for the table. */
    private void care(Care care) {
      now = LATER;
      if (care == Care.EXPIRY_AND_SWEEP) {
        table(storage).expire(ExpireOptions.defaults().withOlderThan(Duration.ofHours(1)));
      }
      table(storage).sweep(SWEEP, orphan -> {});
    }

    /** Returns the values of the newest version, with or without what was planned. */
    private List<Long> expected(boolean isChanged) {
      if (!isChanged) {
        return List.of(2L, 3L, 4L, 5L);
      }
      return plan == Plan.SOME ? List.of(30L, 40L, 5L) : List.of(2L, 3L);
    }

    /** Requires that each version has its files. */
    void requireWhole() {
      RecordTable table = table(storage);
      for (long version : table.versions()) {
        assertThat(values(table.version(version))).hasSizeBetween(2, 5);
      }
    }
  }

  /** How a commit ended for its caller. */
  private enum End {
    CHANGED,
    REFUSED,
    UNKNOWN
  }

  /** What happens between the rebalances. */
  private enum Care {
    SWEEP,
    EXPIRY_AND_SWEEP
  }

  /** Commits a change. */
  private interface Change {
    void commit(World world, Storage storage);
  }

  private static void planned(World world, Storage storage) {
    MergeChange merge = MergeChange.of(new TableSnapshot(storage, world.base.manifest()));
    world.planned.forEach(merge::change);
    merge.commit(world.table(storage));
  }

  /** Makes the changes in the places where the records were when the change was planned. */
  private static void inPlace(World world, Storage storage) {
    for (boolean isDone = false; !isDone; ) {
      RowChange change = RowChange.of(world.table(storage).latest());
      change.delete(1);
      change.update(2, "value", bytes(30));
      change.update(3, "value", bytes(40));
      try {
        change.commit(world.table(storage));
        isDone = true;
      } catch (CommitConflictException e) {
        // Takes the same places of the next version.
      }
    }
  }

  private static byte[] bytes(long value) {
    return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
  }

  private static List<Long> values(TableSnapshot snapshot) {
    List<Long> values = new ArrayList<>();
    try (RecordDataset dataset = RecordDataset.open(snapshot, ReadOptions.defaults())) {
      FieldReader reader = dataset.reader("value");
      int length = (int) snapshot.length();
      reader.select(LongStream.range(0, length).toArray(), 0, length);
      for (int i = 0; i < length; i++) {
        values.add(
            ByteBuffer.wrap(reader.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong());
      }
    }
    return values;
  }

  /** Commits a change while the rebalances and the care come before its calls of these numbers. */
  private static End run(World world, Change change, Care care, long[] before) {
    Queue<Runnable> steps =
        new ArrayDeque<>(List.of(world::rebalance, () -> world.care(care), world::rebalance));
    Storage seen = new WithoutHint(world.storage);
    for (long call : before) {
      // A commit calls from several threads.
      seen = new InterruptedStorage(seen, (int) call, () -> runNext(steps)).storage();
    }
    End end;
    try {
      change.commit(world, seen);
      end = End.CHANGED;
    } catch (CommitOutcomeUnknownException e) {
      end = End.UNKNOWN;
    } catch (ZRecordException e) {
      end = End.REFUSED;
    }
    while (!steps.isEmpty()) {
      runNext(steps);
    }
    return end;
  }

  private static void runNext(Queue<Runnable> steps) {
    synchronized (steps) {
      steps.remove().run();
    }
  }

  /** Returns the calls before which the steps come: all at first, all at last, or by chance. */
  private List<long[]> orders() {
    List<long[]> orders = new ArrayList<>();
    orders.add(new long[] {0, 0, 0});
    orders.add(new long[] {MOST_CALLS, MOST_CALLS, MOST_CALLS});
    for (int i = Budget.of(100); i > 0; i--) {
      orders.add(random.longs(3, 0, MOST_CALLS).toArray());
    }
    return orders;
  }

  private Set<End> run(Plan plan, Instant planned, Care care) {
    Set<End> ends = EnumSet.noneOf(End.class);
    for (long[] before : orders()) {
      World world = new World(plan, planned);
      End end = run(world, CarriedTwiceRaceTest::planned, care, before);
      List<Long> values = values(world.table(world.storage).latest());
      if (end == End.UNKNOWN) {
        assertThat(values).isIn(world.expected(true), world.expected(false));
      } else {
        assertThat(values)
            .as("%s before calls %s", end, Arrays.toString(before))
            .isEqualTo(world.expected(end == End.CHANGED));
      }
      world.requireWhole();
      ends.add(end);
    }
    return ends;
  }

  @Test
  void aYoungChangeFollowsTwoRebalancesAndASweep() {
    for (Plan plan : Plan.values()) {
      assertThat(run(plan, LATER, Care.SWEEP)).containsExactly(End.CHANGED);
    }
  }

  @Test
  void aChangeWhoseVersionsAreExpiredBetweenIsRefused() {
    for (Plan plan : Plan.values()) {
      assertThat(run(plan, LATER, Care.EXPIRY_AND_SWEEP)).contains(End.CHANGED, End.REFUSED);
    }
  }

  @Test
  void aChangeWhoseFilesASweepHasDeletedIsRefused() {
    for (Care care : Care.values()) {
      assertThat(run(Plan.SOME, NOW, care)).contains(End.CHANGED, End.REFUSED);
    }
  }

  /** Control: who finds records by the places that they had changes others. */
  @Test
  void withoutFollowingItsRecordsAChangeIsOfOthers() {
    World world = new World(Plan.SOME, LATER);
    End end = run(world, CarriedTwiceRaceTest::inPlace, Care.SWEEP, new long[] {0, 0, 0});
    assertThat(end).isEqualTo(End.CHANGED);
    assertThat(values(world.table(world.storage).latest())).containsExactly(2L, 30L, 40L);
  }
}
