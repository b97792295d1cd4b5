package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.Interleavings.Work;
import io.zrecord.testing.MemoryStorage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A sweep beside those who move a manifest or a tag, in every order of their calls: it keeps the
 * files of that version.
 */
final class SweepRaceTest {
  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final Instant OLD = NOW.minus(Duration.ofHours(9));
  private static final InstantSource CLOCK = InstantSource.fixed(NOW);
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);

  /** A table of two versions that share nothing. */
  private static final class World implements Interleavings.World {
    private Instant fileTime = OLD;
    final MemoryStorage storage = Simulation.storage(() -> fileTime);
    final RecordTable table = RecordTable.at(storage, CLOCK);
    private final Set<String> wanted;
    /** What somebody is about to commit. */
    @Nullable
    ShardSummary written;

    int swept;
    int deleted;
    int appended;
    int refused;

    World(long wantedVersion) {
      RecordTable.at(storage, InstantSource.fixed(OLD))
          .commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 1, 2)));
      RecordTable.at(storage, InstantSource.fixed(OLD.plus(Duration.ofHours(3))))
          .commit(Shards.overwrite(OptionalLong.of(0), Shards.write(storage, Shards.SCHEMA, 4)));
      String shard = table.version(wantedVersion).shards().get(0).directory();
      wanted = storage.names().stream()
          .filter(name -> name.startsWith(shard + "/"))
          .collect(Collectors.toSet());
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
      assertThat(storage.names()).as("%s", storage.log()).containsAll(wanted);
    }
  }

  private static void sweep(World world, Storage storage) {
    sweep(world, storage, SweepWorkers.here(storage));
  }

  private static void sweepElsewhere(World world, Storage storage) {
    sweep(world, storage, new SweptElsewhere(storage));
  }

  private static void sweep(World world, Storage storage, SweepWorkers workers) {
    try {
      RecordTable.at(storage, CLOCK).sweep(SWEEP, workers, orphan -> world.deleted++);
      world.swept++;
    } catch (StorageException e) {
      assertThat(e).hasMessageContaining("Cannot tell what");
    } catch (CorruptDataException e) {
      assertThat(e).hasMessageContaining(ManifestNames.nameOf(1));
    }
  }

  /** Makes a world in which only the copy of a tag is left of the manifest of version 0. */
  private static World withExpiredTag() {
    World world = new World(0);
    world.table.tag(0, "first");
    world.table.expire(ExpireOptions.defaults().withOlderThan(Duration.ofHours(1)));
    assertThat(world.storage.names()).doesNotContain(ManifestNames.nameOf(0));
    world.fileTime = NOW;
    return world;
  }

  private static void exchangeTheTag(World world, Storage storage) {
    RecordTable table = RecordTable.at(storage, CLOCK);
    table.tag(0, "second");
    table.untag("first");
  }

  @Test
  void aVersionWhoseTagIsExchangedForAnotherMeanwhileIsWhole() throws Exception {
    List<World> worlds = new ArrayList<>();
    require(Interleavings.all(
        () -> {
          worlds.add(withExpiredTag());
          return worlds.get(worlds.size() - 1);
        },
        List.<Work<World>>of(SweepRaceTest::sweep, SweepRaceTest::exchangeTheTag)));
    for (World world : worlds) {
      assertThat(world.table.tags()).extracting(Tag::name).containsExactly("second");
      assertThat(world.table.tagged("second").length()).isEqualTo(2);
    }
    assertThat(worlds).anyMatch(world -> world.swept > 0);
  }

  private static World withDamagedManifest() {
    World world = new World(1);
    world.storage.overwrite(ManifestNames.nameOf(1), "damaged".getBytes(StandardCharsets.UTF_8));
    world.fileTime = NOW;
    return world;
  }

  /** Sets a manifest aside as a repair does: first it has both names. */
  private static void moveAside(World world, Storage storage) {
    String name = ManifestNames.nameOf(1);
    storage.publish(name + ".damaged", storage.read(name, SealedJson.MAX_BYTES));
    storage.delete(name);
  }

  @Test
  void aDamagedVersionThatIsMovedAsideMeanwhileKeepsItsFiles() throws Exception {
    require(Interleavings.all(
        SweepRaceTest::withDamagedManifest,
        List.<Work<World>>of(
            (world, storage) -> {
              sweep(world, storage);
              assertThat(world.swept).as("%s", world.storage.log()).isZero();
            },
            SweepRaceTest::moveAside)));
  }

  /** Its files are older than the limit, and it commits between two deletions. */
  @Test
  void aWriteThatTookTooLongIsRefusedOnceASweepHasBegunToDelete() {
    World world = new World(1);
    // A sweep goes by the list of the storage, which is in the order of creation.
    ShardSummary late = LongStream.range(0, 6)
        .mapToObj(value -> Shards.write(world.storage, Shards.SCHEMA, value))
        .reduce((first, second) -> second)
        .orElseThrow();
    world.fileTime = NOW;
    List<String> deleted = new ArrayList<>();
    List<CommitConflictException> refused = new ArrayList<>();
    world.table.sweep(SWEEP, orphan -> {
      deleted.add(orphan.name());
      if (world.storage.exists(late.directory())) {
        try {
          world.table.commit(Shards.append(OptionalLong.of(1), late));
        } catch (CommitConflictException e) {
          refused.add(e);
        }
      }
    });
    assertThat(deleted).hasSize(6).endsWith(late.directory());
    assertThat(refused).hasSize(5);
    assertThat(refused).allMatch(e -> e.getMessage().contains("have been swept since"));
    assertThat(world.table.latest().length()).isOne();
    world.check();
  }

  /** Makes a world with something to sweep, and a shard of some time that is to be committed. */
  private static World expired(Instant writtenAt) {
    World world = new World(1);
    world.table.expire(ExpireOptions.defaults().withOlderThan(Duration.ofHours(1)));
    world.fileTime = writtenAt;
    world.written = Shards.write(world.storage, Shards.SCHEMA, 5, 6);
    world.fileTime = NOW;
    return world;
  }

  private static void append(World world, Storage storage) {
    ShardSummary shard = Objects.requireNonNull(world.written);
    try {
      RecordTable.at(storage, CLOCK).commit(Shards.append(OptionalLong.of(1), shard));
      committed(world, shard);
    } catch (CommitConflictException e) {
      assertThat(e).hasMessageContaining("have been swept since");
      world.refused++;
    } catch (MissingFileException e) {
      assertThat(e).hasMessageContaining("run the write again");
      world.refused++;
    }
  }

  private static void committed(World world, ShardSummary shard) {
    world.appended++;
    shard.tables().forEach(file -> world.wanted.add(shard.directory() + "/" + file.fileName()));
    shard.chunks().forEach(file -> world.wanted.add(shard.directory() + "/" + file.fileName()));
  }

  /** Publishes what is there without a look at what was swept, as nobody must. */
  private static void appendBlindly(World world, Storage storage) {
    ManifestLog log = new ManifestLog(storage);
    ShardSummary shard = Objects.requireNonNull(world.written);
    if (storage.list(shard.directory()).isEmpty()) {
      return;
    }
    Manifest newest = log.newest().orElseThrow();
    while (!log.publish(NextManifests.append(newest, shard, NOW.toEpochMilli()))) {
      newest = log.newest().orElseThrow();
    }
    committed(world, shard);
  }

  private static List<World> all(Instant writtenAt, Work<World> append) throws Exception {
    return all(writtenAt, append, SweepRaceTest::sweep);
  }

  private static List<World> all(Instant writtenAt, Work<World> append, Work<World> sweep)
      throws Exception {
    List<World> worlds = new ArrayList<>();
    require(Interleavings.all(
        () -> {
          worlds.add(expired(writtenAt));
          return worlds.get(worlds.size() - 1);
        },
        List.<Work<World>>of(sweep, append)));
    return worlds;
  }

  @Test
  void aWriteOfBeforeTheSweepKeepsItsFilesOrIsRefused() throws Exception {
    List<World> worlds = all(OLD, SweepRaceTest::append);
    assertThat(worlds).anyMatch(world -> world.appended == 1 && world.deleted > 0);
    assertThat(worlds).anyMatch(world -> world.refused == 1);
  }

  @Test
  void soDoesAWriteOfBeforeASweepInOtherProcesses() throws Exception {
    List<World> worlds = all(OLD, SweepRaceTest::append, SweepRaceTest::sweepElsewhere);
    assertThat(worlds).anyMatch(world -> world.appended == 1 && world.deleted > 0);
    assertThat(worlds).anyMatch(world -> world.refused == 1);
  }

  /** The control: without the look, a version loses its files. */
  @Test
  void aWriteThatDoesNotLookAtWhatWasSweptLosesItsFiles() {
    assertThatThrownBy(() -> all(OLD, SweepRaceTest::appendBlindly))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("shard/");
  }

  @Test
  void aShortWriteBesideASweepIsNotRefused() throws Exception {
    List<World> worlds = all(NOW.minus(Duration.ofHours(1)), SweepRaceTest::append);
    assertThat(worlds).noneMatch(world -> world.refused > 0);
    assertThat(worlds).anyMatch(world -> world.deleted > 0);
  }

  /** Two sweeps, of which the later is content with younger files. */
  @Test
  void theTimeBeforeWhichFilesMayBeSweptNeverFalls() {
    World world = new World(1);
    Shards.write(world.storage, Shards.SCHEMA, 5);
    world.fileTime = NOW;
    sweep(world, world.storage);
    world.fileTime = NOW.minus(Duration.ofHours(4));
    Shards.write(world.storage, Shards.SCHEMA, 6);
    world.fileTime = NOW;
    world.table.sweep(SWEEP.withOlderThan(Duration.ofHours(3)), orphan -> world.deleted++);
    assertThat(world.deleted).isEqualTo(2);
    assertThat(new ManifestLog(world.storage).newest().orElseThrow().sweptBeforeMillis())
        .hasValue(NOW.minus(Duration.ofHours(1)).toEpochMilli());
    ShardSummary young = Shards.write(world.storage, Shards.SCHEMA, 7);
    assertThat(
            world.table.commit(Shards.append(Shards.newest(world.table), young)).length())
        .isEqualTo(2);
  }

  @Test
  void theClockOfTheStorageDecidesWhatIsOldEnough() {
    World world = new World(1);
    world.fileTime = NOW;
    Shards.write(world.storage, Shards.SCHEMA, 5);
    InstantSource ahead = InstantSource.offset(CLOCK, Duration.ofDays(9));
    SweepResult result =
        RecordTable.at(world.storage, ahead).sweep(SWEEP, orphan -> world.deleted++);
    assertThat(world.deleted).isZero();
    assertThat(result.youngFileCount()).isPositive();
    assertThat(world.table.latest().version()).as("nothing to sweep, no commit").isOne();
  }

  private static void require(int orders) {
    assertThat(orders).isGreaterThan(5);
  }
}
