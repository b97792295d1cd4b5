package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.internal.shard.write.Patches;
import io.zrecord.read.FieldReader;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.RebalanceResult;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.Interleavings.Work;
import io.zrecord.testing.MemoryStorage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Changes of single records at once with other commits, in every order of their calls. */
final class RowRaceTest {
  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final Instant OLD = NOW.minus(Duration.ofHours(9));
  private static final InstantSource CLOCK = InstantSource.fixed(NOW);
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);
  private static final RebalanceOptions ALL = RebalanceOptions.defaults()
      .withAllShards()
      .withShardBytes(1 << 20, 1 << 20)
      .withWrite(WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE));

  /** A table with the values 1 to 5 in two shards, and what they should be. */
  private static final class World implements Interleavings.World {
    private Instant fileTime = OLD;
    final MemoryStorage storage = new MemoryStorage(() -> fileTime);
    final List<Long> expected = new ArrayList<>(List.of(1L, 2L, 3L, 4L, 5L));
    int changed;
    int refused;
    int rebalanced;
    boolean isSwept;

    World() {
      RecordTable.at(storage, InstantSource.fixed(OLD))
          .commit(Shards.append(
              OptionalLong.empty(),
              Shards.write(storage, Shards.SCHEMA, 1, 2, 3),
              Shards.write(storage, Shards.SCHEMA, 4, 5)));
      fileTime = NOW;
    }

    @Override
    public Storage storage() {
      return storage;
    }

    @Override
    public Storage seen(Storage ordered) {
      return new WithoutHint(ordered);
    }

    @Override
    public void check() {
      RecordTable table = RecordTable.at(storage, CLOCK);
      assertThat(values(table.latest())).as("%s", storage.log()).isEqualTo(expected);
      Set<String> named = table.versions().stream()
          .flatMap(version -> table.version(version).shards().stream())
          .flatMap(RowRaceTest::files)
          .collect(Collectors.toSet());
      Set<String> found = storage.names().stream()
          .filter(name -> name.startsWith("shard/"))
          .collect(Collectors.toSet());
      if (isSwept) {
        assertThat(found).containsAll(named);
      } else {
        // Whoever was refused has deleted what it wrote. What a carried change has written first is
        // left to a sweep, because another commit may have the same change.
        assertThat(found).containsAll(named);
        found.removeAll(named);
        assertThat(found).allMatch(name -> name.endsWith(".patch"));
        assertThat(found).hasSizeLessThan(changed + rebalanced);
      }
    }
  }

  private static Stream<String> files(ShardSummary shard) {
    return Stream.of(
            shard.tables().stream().map(shard::fileOf),
            shard.chunks().stream().map(shard::fileOf),
            Stream.ofNullable(shard.patch()).map(shard::fileOf))
        .flatMap(names -> names);
  }

  private static List<Long> values(TableSnapshot snapshot) {
    List<Long> values = new ArrayList<>();
    try (RecordDataset dataset = RecordDataset.open(snapshot, ReadOptions.defaults())) {
      FieldReader reader = dataset.reader("value");
      long[] indices = new long[(int) snapshot.length()];
      for (int i = 0; i < indices.length; i++) {
        indices[i] = i;
      }
      reader.select(indices, 0, indices.length);
      for (int i = 0; i < indices.length; i++) {
        values.add(
            ByteBuffer.wrap(reader.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong());
      }
    }
    return values;
  }

  private static byte[] bytes(long value) {
    return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
  }

  /**
   * Deletes the record of a value, and gives that of another value, or of ten times this value, ten
   * times what it has.
   */
  private static Work<World> change(long deleted, long updated) {
    return (world, storage) -> {
      TableSnapshot base = RecordTable.at(storage, CLOCK).latest();
      List<Long> values = values(base);
      RowChange change = RowChange.of(base);
      change.delete(values.indexOf(deleted));
      long before = values.contains(updated) ? updated : 10 * updated;
      change.update(values.indexOf(before), "value", bytes(10 * before));
      try {
        change.commit(RecordTable.at(storage, CLOCK));
        world.changed++;
        world.expected.remove(deleted);
        // The other change may have been the later one, and be counted already.
        world.expected.replaceAll(
            value -> value == updated || value == 10 * updated ? 10 * value : value);
      } catch (CommitConflictException e) {
        world.refused++;
      }
    };
  }

  private static List<World> run(List<Work<World>> work) throws Exception {
    return Interleavings.ended(World::new, work);
  }

  @Test
  void ofTwoChangesOfARecordOneIsRefusedUnlessItComesLater() throws Exception {
    List<World> worlds = run(List.of(change(1, 2), change(3, 2)));
    assertThat(worlds).allMatch(world -> world.changed + world.refused == 2);
    assertThat(worlds).allMatch(world -> world.changed >= 1);
    assertThat(worlds).anyMatch(world -> world.refused == 1).anyMatch(world -> world.changed == 2);
  }

  @Test
  void changesOfOtherRecordsOfAShardBothSucceed() throws Exception {
    assertThat(run(List.of(change(1, 5), change(3, 2)))).allMatch(world -> world.changed == 2);
  }

  @Test
  void changesOfTwoShardsBothSucceed() throws Exception {
    assertThat(run(List.of(change(1, 2), change(4, 5)))).allMatch(world -> world.changed == 2);
  }

  @Test
  void aChangeAndAnAppendBothSucceed() throws Exception {
    assertThat(run(List.of(change(4, 5), (world, storage) -> {
          RecordTable table = RecordTable.at(storage, CLOCK);
          table.commit(Shards.append(
              OptionalLong.of(table.latest().version()), Shards.write(storage, Shards.SCHEMA, 6)));
          world.expected.add(6L);
        })))
        .allMatch(world -> world.changed == 1);
  }

  @Test
  void aChangeAndARebalanceBothSucceed() throws Exception {
    List<World> worlds = run(List.of(change(1, 2), (world, storage) -> {
      RebalancePlan plan = RebalancePlan.of(RecordTable.at(storage, CLOCK).latest(), ALL);
      RebalanceResult result = TableRebalance.of(plan).threads(1).run();
      world.rebalanced += result.groups();
      world.refused += result.failures().size();
    }));
    assertThat(worlds).allMatch(world -> world.changed == 1 && world.rebalanced == 1);
  }

  @Test
  void anExpiryAndASweepLeaveWhatAChangeNeeds() throws Exception {
    List<World> worlds = run(List.of(change(1, 2), (world, storage) -> {
      world.isSwept = true;
      RecordTable table = RecordTable.at(storage, CLOCK);
      table.expire(ExpireOptions.defaults().withOlderThan(Duration.ofHours(1)));
      table.sweep(SWEEP, orphan -> {});
    }));
    assertThat(worlds).allMatch(world -> world.changed == 1);
  }

  /** Control: who takes the newest shard for the one that it patched loses what others changed. */
  @Test
  void withoutAComparisonOfShardsAChangeIsLost() {
    assertThatThrownBy(() -> run(List.of(change(1, 2), (world, storage) -> {
          RecordTable table = RecordTable.at(storage, CLOCK);
          TableSnapshot base = table.latest();
          ShardSummary planned = base.shards().get(0);
          ShardSummary patched = Patches.write(storage, planned, new long[] {2}, Map.of());
          for (boolean isDone = false; !isDone; ) {
            TableSnapshot newest = table.latest();
            try {
              table.commit(TableChange.rows(
                  newest,
                  TableChange.Kind.DELETE,
                  Shards.SCHEMA,
                  List.of(TableChange.Replacement.ofRows(newest.shards().get(0), List.of(patched))),
                  Map.of()));
              isDone = true;
            } catch (CommitConflictException e) {
              // Takes the next newest shard.
            }
          }
          world.expected.remove(3L);
        })))
        .isInstanceOf(AssertionError.class);
  }
}
