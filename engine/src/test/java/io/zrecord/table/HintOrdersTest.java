package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.VersionHint;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.Interleavings.Work;
import io.zrecord.testing.MemoryStorage;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/**
 * Hints that are behind, beside an expiry, and hints that would be ahead, in every order of calls.
 * A slow publisher may leave a hint of a version that was expired meanwhile; then the directory
 * tells. A hint is never ahead: no reader is told that versions were lost.
 */
final class HintOrdersTest {
  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final Instant FIRST = NOW.minus(Duration.ofHours(9));
  private static final ExpireOptions EXPIRE =
      ExpireOptions.defaults().withOlderThan(Duration.ofHours(1)).withKeepVersions(1);

  /** A table of one version, and two shards for those who append. */
  private static final class World implements Interleavings.World {
    final MemoryStorage storage = Simulation.storage(InstantSource.fixed(FIRST));
    private final ShardSummary first = Shards.write(storage, Shards.SCHEMA, 1);
    private final ShardSummary second = Shards.write(storage, Shards.SCHEMA, 2);
    private long acknowledged;
    private long records = 1;
    private boolean isHintBehind;
    private boolean isHintExpired;

    World() {
      RecordTable.at(storage, InstantSource.fixed(FIRST))
          .commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 0)));
    }

    @Override
    public Storage storage() {
      return storage;
    }

    /** Requires that the next ones find what was acknowledged, and go on from there. */
    @Override
    public void check() {
      RecordTable table = RecordTable.at(storage, InstantSource.fixed(NOW));
      long hinted = VersionHint.read(storage).orElseThrow().version();
      isHintBehind = hinted < table.latest().version();
      isHintExpired = !storage.exists(ManifestNames.nameOf(hinted));
      assertThat(table.latest().version())
          .as("%s", storage.log())
          .isGreaterThanOrEqualTo(acknowledged);
      assertThat(table.latest().length()).as("%s", storage.log()).isEqualTo(records);
      table.tag(table.latest().version(), "next");
      assertThat(table.latest().length()).as("%s", storage.log()).isEqualTo(records);
    }
  }

  private static void append(World world, Storage storage, Instant time, ShardSummary shard) {
    try {
      TableSnapshot published = RecordTable.at(storage, InstantSource.fixed(time))
          .commit(Shards.append(OptionalLong.of(0), shard));
      world.acknowledged = Math.max(world.acknowledged, published.version());
      world.records++;
    } catch (CommitOutcomeUnknownException e) {
      // An expiry came between. The change counts if the newest version has it.
      if (has(world, shard)) {
        world.records++;
      }
    }
  }

  private static boolean has(World world, ShardSummary shard) {
    return RecordTable.at(world.storage).latest().shards().stream()
        .anyMatch(present -> present.id().equals(shard.id()));
  }

  /** Appends two hours after the other one, and expires all versions before. */
  private static void appendAndExpire(World world, Storage storage) {
    append(world, storage, FIRST.plus(Duration.ofHours(2)), world.second);
    RecordTable table = RecordTable.at(storage, InstantSource.fixed(NOW));
    table.expire(EXPIRE);
  }

  private static void read(World world, Storage storage) {
    // Begins with a call, so that there are orders in which it comes after the others.
    storage.exists(ManifestNames.HINT);
    long acknowledged = world.acknowledged;
    assertThat(new ManifestLog(storage).newest().orElseThrow().version())
        .as("%s", world.storage.log())
        .isGreaterThanOrEqualTo(acknowledged);
  }

  /** Reads what the hint leads to, and no list, as nobody must. */
  private static void readFromTheHint(World world, Storage storage) {
    storage.exists(ManifestNames.HINT);
    new ManifestLog(storage).read(VersionHint.read(storage).orElseThrow().version());
  }

  private static void besideAnExpiry(Work<World> other) throws Exception {
    int orders = Interleavings.all(
        World::new, List.<Work<World>>of(HintOrdersTest::appendAndExpire, other));
    assertThat(orders).isGreaterThan(10);
  }

  /** Ends last, so that what it read may have been expired and what it leaves may be behind. */
  private static void appendSlowly(World world, Storage storage) {
    append(world, storage, FIRST.plus(Duration.ofHours(1)), world.first);
  }

  @Test
  void theHintOfASlowPublisherMayLeadToAnExpiredVersion() throws Exception {
    List<World> worlds = new ArrayList<>();
    Interleavings.some(
        600,
        () -> {
          worlds.add(new World());
          return worlds.get(worlds.size() - 1);
        },
        List.<Work<World>>of(HintOrdersTest::appendAndExpire, HintOrdersTest::appendSlowly),
        () -> worlds.stream().anyMatch(world -> world.isHintExpired)
            && worlds.stream().anyMatch(world -> world.isHintBehind)
            && worlds.stream().anyMatch(world -> !world.isHintBehind));
    assertThat(worlds)
        .anyMatch(world -> world.isHintExpired)
        .anyMatch(world -> world.isHintBehind)
        .anyMatch(world -> !world.isHintBehind);
  }

  @Test
  void aReaderBesideAnExpiryFindsTheNewestVersion() throws Exception {
    besideAnExpiry(HintOrdersTest::read);
  }

  /** The control: the hint alone may lead to an expired version. */
  @Test
  void whatTheHintLeadsToMayBeGone() {
    assertThatThrownBy(() -> besideAnExpiry(HintOrdersTest::readFromTheHint))
        .hasStackTraceContaining("MissingFileException");
  }

  /** Leaves the hint of a version before the version is published, as nobody must. */
  private static void leaveTheHintFirst(World world, Storage storage) {
    ManifestLog log = new ManifestLog(storage);
    Manifest newest = log.newest().orElseThrow();
    Manifest next = NextManifests.append(newest, world.first, NOW.toEpochMilli());
    log.leaveHint(next);
    if (log.publish(next)) {
      world.records++;
    }
  }

  private static void all(Work<World> publisher) throws Exception {
    int orders =
        Interleavings.all(World::new, List.<Work<World>>of(publisher, HintOrdersTest::read));
    assertThat(orders).isGreaterThan(3);
  }

  @Test
  void noReaderMeetsAHintThatIsAhead() throws Exception {
    all(HintOrdersTest::appendSlowly);
  }

  /** The control: a hint that comes before its version is damage to whoever reads between. */
  @Test
  void aHintThatIsLeftBeforeItsVersionIsAhead() {
    assertThatThrownBy(() -> all(HintOrdersTest::leaveTheHintFirst))
        .hasStackTraceContaining("version 1 was published, but version 0 is the newest");
  }
}
