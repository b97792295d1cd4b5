package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.MemoryStorage;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/**
 * A power loss after every call of an expiry, of a sweep, of a retraction and of a drop. It takes
 * each name back that was not forced, and undoes any of the deletions that were not forced. What is
 * left is a whole table, or none. The controls force no directory.
 */
final class CarePowerLossTest {
  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final ExpireOptions EXPIRE =
      ExpireOptions.defaults().withOlderThan(Duration.ofHours(1));
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);

  /** Publishes without forcing the name, and does not tell whether that succeeded. */
  private static final class Unclear extends ForwardingStorage {
    /** What happens to a directory that is to be forced. */
    private enum Force {
      WORKS,
      DOES_NOTHING,
      FAILS
    }

    private final MemoryStorage memory;
    private final Force force;

    Unclear(MemoryStorage memory, Force force) {
      super(memory);
      this.memory = memory;
      this.force = force;
    }

    @Override
    public boolean publish(String name, byte[] content) {
      if (memory.exists(name)) {
        return false;
      }
      memory.overwrite(name, content);
      throw new CommitOutcomeUnknownException(pathOf(name), "nobody knows about " + name);
    }

    @Override
    public void forceDirectory(String directory) {
      switch (force) {
        case WORKS -> super.forceDirectory(directory);
        case DOES_NOTHING -> {}
        case FAILS -> throw new StorageException(pathOf(directory), "cannot force " + directory);
      }
    }
  }

  /** A table of old versions that share nothing, and the time. */
  private static final class World {
    Instant time = NOW.minusSeconds(90_000);
    final InstantSource clock = () -> time;
    final MemoryStorage memory = new MemoryStorage(clock);
    final UUID created;

    World(int versions) {
      RecordTable table = RecordTable.at(memory, clock);
      created = table.commit(Shards.append(OptionalLong.empty(), shard())).commitId();
      for (int version = 1; version < versions; version++) {
        table.commit(Shards.overwrite(OptionalLong.of(version - 1), shard()));
      }
      time = NOW;
    }

    private ShardSummary shard() {
      WriteOptions options =
          WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.COMMIT);
      try (ShardWriter writer =
          ShardWriter.create(memory, UUID.randomUUID(), Shards.SCHEMA, options)) {
        writer.putLong(0, 7);
        writer.endRecord();
        return writer.finish().orElseThrow();
      }
    }

    RecordTable table(Storage storage) {
      return RecordTable.at(storage, clock);
    }
  }

  /** Returns what is wrong after a power loss at one of the calls of some care. */
  private static Set<String> problems(
      Supplier<World> before, Unclear.Force force, BiConsumer<World, RecordTable> care) {
    Set<String> problems = new HashSet<>();
    boolean isCut = true;
    int calls = 0;
    for (; isCut; calls++) {
      World world = before.get();
      MemoryStorage memory = world.memory;
      memory.failingFrom(memory.log().size() + calls, Integer.MAX_VALUE);
      try {
        care.accept(world, world.table(new Unclear(memory, force)));
        isCut = false;
      } catch (ZRecordException e) {
        // The power is lost now.
      }
      for (Set<String> returning : subsets(memory.pendingDeletions())) {
        problems.addAll(problems(memory.afterPowerLoss(returning)));
      }
    }
    assertThat(calls).isGreaterThan(1);
    return problems;
  }

  private static List<Set<String>> subsets(Set<String> names) {
    List<Set<String>> subsets = new ArrayList<>(List.of(Set.of()));
    for (String name : names) {
      for (Set<String> subset : List.copyOf(subsets)) {
        Set<String> larger = new HashSet<>(subset);
        larger.add(name);
        subsets.add(larger);
      }
    }
    return subsets;
  }

  /** Returns what is wrong with a table, if there is one. */
  private static Set<String> problems(MemoryStorage left) {
    RecordTable table = RecordTable.at(left, InstantSource.fixed(NOW));
    Set<String> problems = new HashSet<>();
    try {
      ManifestLog log = new ManifestLog(left);
      List<Long> listed = log.listed();
      if (!listed.isEmpty() && listed.get(listed.size() - 1) - listed.get(0) >= listed.size()) {
        problems.add("a number is free above one that is not");
      }
      if (log.newest().filter(newest -> newest.oldest() < listed.get(0)).isPresent()) {
        problems.add("a version is missing that was not expired");
      }
      for (long version : table.exists() ? table.versions() : List.<Long>of()) {
        for (ShardSummary shard : table.version(version).shards()) {
          List<String> files = new ArrayList<>();
          shard.chunks().forEach(chunk -> files.add(chunk.fileName()));
          shard.tables().forEach(tables -> files.add(tables.fileName()));
          if (!files.stream().allMatch(file -> left.exists(shard.directory() + "/" + file))) {
            problems.add("version " + version + " has lost a shard");
          }
        }
      }
    } catch (ZRecordException e) {
      problems.add(e.getClass().getSimpleName());
    }
    return problems;
  }

  private static void expire(World world, RecordTable table) {
    table.expire(EXPIRE);
    assertThat(new ManifestLog(world.memory).listed()).containsExactly(3L, 4L);
  }

  @Test
  void anExpiryLeavesNoFreeNumberAboveAnother() {
    assertThat(problems(() -> new World(4), Unclear.Force.WORKS, CarePowerLossTest::expire))
        .isEmpty();
  }

  /** Control: without forces, manifest 0 returns beside the free number 1, or the floor is lost. */
  @Test
  void anExpiryThatForcesNothingLeavesFreeNumbersAndLosesVersions() {
    assertThat(problems(() -> new World(4), Unclear.Force.DOES_NOTHING, CarePowerLossTest::expire))
        .contains(
            "a number is free above one that is not", "a version is missing that was not expired");
  }

  /** Returns a table whose expiry everybody sees, and a power loss takes back. */
  private static World withFloorThatIsNotForced() {
    World world = new World(2);
    RecordTable table = world.table(new Unclear(world.memory, Unclear.Force.FAILS));
    assertThatThrownBy(() -> table.expire(EXPIRE))
        .isInstanceOf(CommitOutcomeUnknownException.class);
    assertThat(world.table(world.memory).versions()).containsExactly(1L, 2L);
    assertThat(world.memory.afterPowerLoss().exists(ManifestNames.nameOf(2))).isFalse();
    return world;
  }

  private static void sweep(World world, RecordTable table) {
    assertThat(table.sweep(SWEEP, orphan -> {}).fileCount()).isPositive();
  }

  @Test
  void aSweepDeletesNothingThatAVersionNeedsWhichReturns() {
    assertThat(problems(
            CarePowerLossTest::withFloorThatIsNotForced,
            Unclear.Force.WORKS,
            CarePowerLossTest::sweep))
        .isEmpty();
  }

  /** Control: without a force before the first deletion, the expired version returns. */
  @Test
  void aSweepThatForcesNothingLosesAShard() {
    assertThat(problems(
            CarePowerLossTest::withFloorThatIsNotForced,
            Unclear.Force.DOES_NOTHING,
            CarePowerLossTest::sweep))
        .containsExactly("version 0 has lost a shard");
  }

  private static void retract(World world, RecordTable table) {
    assertThat(table.retract(world.created)).isTrue();
    assertThat(table.exists()).isFalse();
  }

  @Test
  void aRetractionLeavesAWholeTableOrNone() {
    assertThat(problems(() -> new World(1), Unclear.Force.WORKS, CarePowerLossTest::retract))
        .isEmpty();
  }

  /** Control: without forces, the table returns after its shards were deleted. */
  @Test
  void aRetractionThatForcesNothingLosesAShard() {
    assertThat(problems(() -> new World(1), Unclear.Force.DOES_NOTHING, CarePowerLossTest::retract))
        .contains("version 0 has lost a shard");
  }

  private static void drop(World world, RecordTable table) {
    table.drop(table.latest().tableId(), DropOptions.defaults());
    assertThat(table.exists()).isFalse();
  }

  @Test
  void aDropLeavesAWholeTableOrNone() {
    assertThat(problems(() -> new World(3), Unclear.Force.WORKS, CarePowerLossTest::drop))
        .isEmpty();
  }

  /** Control: without forces, versions return after their shards were deleted. */
  @Test
  void aDropThatForcesNothingLosesShards() {
    assertThat(problems(() -> new World(3), Unclear.Force.DOES_NOTHING, CarePowerLossTest::drop))
        .contains("version 2 has lost a shard");
  }
}
