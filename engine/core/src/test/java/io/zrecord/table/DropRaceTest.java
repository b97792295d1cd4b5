package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.DatasetExistsException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
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
import io.zrecord.verify.DatasetCheck;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/**
 * A drop of a table at once with each other commit, in every order of their calls, or a share of
 * very many: what came before the drop is dropped with the table, what comes after is told so, and
 * a table that was created since is whole.
 */
final class DropRaceTest {
  private static final Instant OLD = Instant.parse("2026-01-02T00:00:00Z");
  private static final OptionalLong NONE = OptionalLong.empty();
  private static final OptionalLong FIRST = OptionalLong.of(0);
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);
  private static final RebalanceOptions ALL = RebalanceOptions.defaults()
      .withAllShards()
      .withShardBytes(1 << 20, 1 << 20)
      .withWrite(WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE));

  /** A table of two shards, and what became of those who worked on it. */
  private static final class World implements Interleavings.World, InstantSource {
    private final AtomicInteger ticks = new AtomicInteger();
    private Instant now = OLD;
    final MemoryStorage storage = new MemoryStorage(this);
    final UUID first;
    final List<ShardSummary> shards;
    final ShardSummary unnamed;
    final long unnamedMillis;
    int dropped;
    int counted;
    int done;
    int refused;
    int created;
    String told = "";

    private final List<World> ended;

    World() {
      this(new ArrayList<>());
    }

    /** @param ended gets this world when the run of an order has come to its end */
    World(List<World> ended) {
      this.ended = ended;
      TableSnapshot base = RecordTable.at(storage, this)
          .commit(Shards.append(
              NONE,
              Shards.write(storage, Shards.SCHEMA, 1, 2, 3),
              Shards.write(storage, Shards.SCHEMA, 4, 5)));
      first = base.tableId();
      shards = List.of(base.shards().get(0));
      unnamed = Shards.write(storage, Shards.SCHEMA, 8);
      unnamedMillis = RecordTable.at(storage, this).check(unnamed);
      now = OLD.plus(Duration.ofHours(9));
    }

    /** Moves on at each look. */
    @Override
    public Instant instant() {
      return now.plusMillis(ticks.incrementAndGet());
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
      ended.add(this);
      assertThat(dropped).as("%s", this).isPositive();
      List<Finding> findings = new ArrayList<>();
      assertThat(DatasetCheck.of(storage).allVersions().run(findings::add).isSound())
          .as("%s: %s", this, findings)
          .isTrue();
      RecordTable table = RecordTable.at(storage, this);
      assertThat(table.exists()).as("%s", this).isEqualTo(created > 0);
      for (long version : table.versions()) {
        TableSnapshot snapshot = table.version(version);
        assertThat(snapshot.tableId()).as("%s", this).isNotEqualTo(first);
        new ShardCheck(storage).check(snapshot.shards());
      }
      requireNothingFollows();
      if (created == 0) {
        // What those have left who were refused is deleted by whoever cares later.
        now = now.plus(Duration.ofDays(1));
        table.sweep(SWEEP, orphan -> {});
        long number = new ManifestLog(storage).last().orElseThrow().version();
        assertThat(storage.names())
            .as("%s", this)
            .containsExactly(ManifestNames.nameOf(number), ManifestNames.HINT);
      }
    }

    /** Requires that nothing but a creation follows a retraction, or the retraction of a sweep. */
    private void requireNothingFollows() {
      ManifestLog log = new ManifestLog(storage);
      boolean isTable = true;
      for (long number : log.listed()) {
        Manifest manifest = log.read(number);
        assertThat(isTable
                || !manifest.isTable()
                || (manifest.isBeginning() && manifest.base().isEmpty()))
            .as("version %s, %s", number, this)
            .isTrue();
        isTable = manifest.isTable();
      }
    }

    @Override
    public String toString() {
      return told + ": " + dropped + " dropped, " + done + " done, " + refused + " refused, "
          + created + " created, " + storage.log();
    }
  }

  private static void drop(World world, Storage storage) {
    DropResult result = RecordTable.at(storage, world).drop(world.first, DropOptions.defaults());
    world.dropped++;
    world.counted += result.versionCount() > 0 ? 1 : 0;
  }

  /** Does something that succeeds before the drop, and else is told of the drop. */
  private static Work<World> told(Work<World> work) {
    return (world, storage) -> {
      try {
        work.run(world, storage);
        world.done++;
      } catch (CommitConflictException
          | NotADatasetException
          | MissingFileException
          | VersionNotFoundException e) {
        assertThat(e).as("%s", world).hasMessageContaining("dropped");
        world.refused++;
        world.told = String.valueOf(e.getMessage());
      }
    };
  }

  /**
   * Runs a share of the orders, and more until each condition is true of a world.
   *
   * @param about the number of all orders
   */
  private static List<World> some(int about, List<Work<World>> work, List<Predicate<World>> shown)
      throws Exception {
    List<World> ended = new ArrayList<>();
    Interleavings.some(
        about,
        () -> new World(ended),
        work,
        () -> shown.stream().allMatch(one -> ended.stream().anyMatch(one)));
    return ended;
  }

  private static void run(Work<World> work) throws Exception {
    requireTold(Interleavings.ended(World::new, List.of(DropRaceTest::drop, told(work))));
  }

  private static void requireTold(List<World> worlds) {
    assertThat(worlds).allMatch(world -> world.done + world.refused == 1);
    assertThat(worlds).anyMatch(world -> world.done == 1).anyMatch(world -> world.refused == 1);
  }

  @Test
  void anAppendIsDroppedOrToldSo() throws Exception {
    run((world, storage) -> RecordTable.at(storage, world)
        .commit(Shards.append(FIRST, Shards.write(storage, Shards.SCHEMA, 6))));
  }

  @Test
  void aChangeOfARecordIsDroppedOrToldSo() throws Exception {
    run((world, storage) -> {
      RowChange change = RowChange.of(RecordTable.at(storage, world).latest());
      change.delete(1);
      change.commit(RecordTable.at(storage, world));
    });
  }

  @Test
  void aTagIsDroppedOrToldSo() throws Exception {
    run((world, storage) -> RecordTable.at(storage, world).tag(0, "kept"));
  }

  @Test
  void anExpiryIsDroppedOrToldSo() throws Exception {
    Work<World> expiry = (world, storage) -> {
      RecordTable table = RecordTable.at(storage, world);
      table.commit(Shards.overwrite(FIRST, Shards.write(storage, Shards.SCHEMA, 6)));
      table.expire(ExpireOptions.defaults().withOlderThan(Duration.ofHours(1)));
    };
    requireTold(some(
        665,
        List.of(DropRaceTest::drop, told(expiry)),
        List.of(world -> world.done == 1, world -> world.refused == 1)));
  }

  @Test
  void aRebalanceIsDroppedOrToldSo() throws Exception {
    run((world, storage) -> {
      RebalancePlan plan = RebalancePlan.of(RecordTable.at(storage, world).latest(), ALL);
      RebalanceResult result = TableRebalance.of(plan).threads(1).run();
      if (result.groups() == 0) {
        assertThat(result.failures()).allMatch(failure -> failure.toString().contains("dropped"));
        throw new CommitConflictException("", "dropped");
      }
    });
  }

  /** A sweep that comes after the drop needs no table. */
  @Test
  void aSweepEndsOrIsToldOfTheDrop() throws Exception {
    List<World> worlds = some(
        5404,
        List.of(
            DropRaceTest::drop,
            told((world, storage) -> RecordTable.at(storage, world).sweep(SWEEP, orphan -> {}))),
        List.of(world -> world.done == 1));
    assertThat(worlds).anyMatch(world -> world.done == 1);
    assertThat(worlds)
        .filteredOn(world -> world.done == 1)
        .allMatch(world -> world.storage.list(world.unnamed.directory()).isEmpty());
  }

  @Test
  void aReaderHasTheRecordsOrIsToldOfTheDrop() throws Exception {
    run((world, storage) -> {
      TableSnapshot snapshot = RecordTable.at(storage, world).latest();
      try (RecordDataset dataset = RecordDataset.open(snapshot, ReadOptions.defaults())) {
        FieldReader reader = dataset.reader("value");
        // Of one shard, so that one thread reads.
        reader.select(new long[] {0, 2}, 0, 2);
        assertThat(reader.value(0).length + reader.value(1).length).isEqualTo(16);
      }
    });
  }

  @Test
  void ofTwoDropsBothSucceed() throws Exception {
    List<World> worlds =
        Interleavings.ended(World::new, List.of(DropRaceTest::drop, DropRaceTest::drop));
    assertThat(worlds).allMatch(world -> world.dropped == 2 && world.counted == 1);
  }

  /** A creation is planned while there is no table, and may come before or after another drop. */
  private static void create(World world, Storage storage) {
    ShardSummary shard = Shards.write(storage, Shards.SCHEMA, 6);
    try {
      RecordTable.at(storage, world)
          .commit(Shards.change(TableChange.Kind.CREATE, NONE, Shards.SCHEMA, List.of(shard)));
      world.created++;
    } catch (DatasetExistsException e) {
      world.refused++;
    }
  }

  @Test
  void aTableThatIsCreatedAgainIsNotDropped() throws Exception {
    List<World> worlds = some(
        1716,
        List.of(
            (world, storage) -> {
              try {
                drop(world, storage);
              } catch (CommitConflictException e) {
                assertThat(e).hasMessageContaining("dropped");
                world.refused++;
              }
            },
            (world, storage) -> {
              drop(world, storage);
              create(world, storage);
            }),
        List.of(world -> world.refused == 1));
    assertThat(worlds).allMatch(world -> world.created == 1);
    assertThat(worlds).anyMatch(world -> world.refused == 1);
  }

  @Test
  void aCreationByAnotherComesAfterTheDropOrFindsTheTable() throws Exception {
    List<World> worlds =
        Interleavings.ended(World::new, List.of(DropRaceTest::drop, DropRaceTest::create));
    assertThat(worlds).allMatch(world -> world.created + world.refused == 1);
    assertThat(worlds).anyMatch(world -> world.created == 1);
  }

  /** A creation began while there was no table, and what it wrote is old by now. */
  private static void createSlowly(World world, Storage storage) {
    try {
      RecordTable.at(storage, world)
          .commitChecked(
              Shards.change(TableChange.Kind.CREATE, NONE, Shards.SCHEMA, List.of(world.unnamed)),
              world.unnamedMillis);
      world.created++;
    } catch (DatasetExistsException | CommitConflictException e) {
      world.refused++;
    }
  }

  @Test
  void aSlowCreationLosesNoFileToADropThatSweeps() throws Exception {
    List<World> worlds = Interleavings.ended(
        World::new,
        List.of(
            (world, storage) -> {
              DropOptions swept = DropOptions.defaults().withLeftovers(DropOptions.Leftovers.SWEPT);
              RecordTable.at(storage, world).drop(world.first, swept);
              world.dropped++;
            },
            DropRaceTest::createSlowly));
    assertThat(worlds).allMatch(world -> world.created + world.refused == 1);
    assertThat(worlds)
        .anyMatch(world -> world.created == 1)
        .anyMatch(world -> world.storage.list(world.unnamed.directory()).isEmpty());
  }

  /**
   * A creation whose first try had effect, though nobody knows, is tried again. With one shard it
   * calls the storage from one thread.
   */
  private static void createAgain(World world, Storage storage) {
    try {
      RecordTable.at(storage, world)
          .commit(Shards.change(TableChange.Kind.CREATE, NONE, Shards.SCHEMA, world.shards));
      world.created++;
    } catch (DatasetExistsException | CommitConflictException | MissingFileException e) {
      world.refused++;
    }
  }

  @Test
  void aCreationThatIsTriedAgainTakesNoFileThatIsDropped() throws Exception {
    List<World> worlds =
        Interleavings.ended(World::new, List.of(DropRaceTest::drop, DropRaceTest::createAgain));
    assertThat(worlds).allMatch(world -> world.refused == 1);
  }

  /** Control: a drop that does not say how old its files are deletes those of the next table. */
  @Test
  void withoutALimitACreationThatIsTriedAgainLosesItsFiles() {
    assertThatThrownBy(() -> Interleavings.ended(
            World::new,
            List.of(
                (world, storage) -> {
                  ManifestLog log = new ManifestLog(storage);
                  NamedFiles named = new NamedFiles(storage);
                  Manifest newest = log.newest().orElseThrow();
                  Manifest retraction = new Committer(storage, log, world)
                      .commit(RetractCommit.ofCreation(storage, newest, named));
                  new ExpiredManifests(storage, log).deleteBelow(retraction.oldest());
                  new DroppedFiles(storage).delete(named);
                  world.dropped++;
                },
                DropRaceTest::createAgain)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("1 created");
  }
}
