package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.TagLog;
import io.zrecord.storage.Storage;
import io.zrecord.table.Interleavings.Work;
import io.zrecord.testing.MemoryStorage;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Tagging, expiring, sweeping and reading at once, in every order of their calls: a tag that was
 * given keeps its version whole, one that was refused leaves nothing, and nobody fails. Version 0
 * of the table is to be expired, version 1 shares nothing with it.
 */
final class ExpireRaceTest {
  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final InstantSource CLOCK = InstantSource.fixed(NOW);
  private static final ExpireOptions EXPIRE =
      ExpireOptions.defaults().withOlderThan(Duration.ofHours(1));
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);
  private static final MemoryStorage TEMPLATE = template();
  private static final Set<String> FILES = TEMPLATE.names();
  private static final List<Set<String>> SHARD_FILES = List.of(filesBelow(0), filesBelow(1));

  private static MemoryStorage template() {
    MemoryStorage storage = new MemoryStorage();
    Instant first = NOW.minus(Duration.ofHours(9));
    RecordTable.at(storage, InstantSource.fixed(first))
        .commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 1, 2, 3)));
    RecordTable.at(storage, InstantSource.fixed(first.plus(Duration.ofHours(3))))
        .commit(Shards.overwrite(OptionalLong.of(0), Shards.write(storage, Shards.SCHEMA, 4)));
    return storage;
  }

  private static Set<String> filesBelow(long version) {
    String shard = RecordTable.at(TEMPLATE).version(version).shards().get(0).directory();
    return FILES.stream().filter(name -> name.startsWith(shard + "/")).collect(Collectors.toSet());
  }

  /** The table, and how those who worked on it fared. */
  private static final class World implements Interleavings.World {
    final MemoryStorage storage = new MemoryStorage();
    int tagged;
    int retagged;
    int refused;
    int killed;
    int expired;
    int read;
    private final Tally tally;

    World(Tally tally) {
      this.tally = tally;
      FILES.forEach(name -> storage.overwrite(name, TEMPLATE.read(name, SealedJson.MAX_BYTES)));
    }

    @Override
    public Storage storage() {
      return storage;
    }

    @Override
    public void check() {
      tally.add(this);
      assertThat(storage.names()).as("%s", this).noneMatch(name -> name.contains("pending"));
      assertThat(new TagLog(storage).find("kept").map(TagLog.Entry::version))
          .as("%s", this)
          .isEqualTo(
              retagged > 0 ? Optional.of(1L) : tagged > 0 ? Optional.of(0L) : Optional.empty());
      if (killed > 0) {
        requireTagged();
        expire(this, storage);
        sweep(this, storage);
      }
      requireTagged();
      Set<String> names = storage.names();
      assertThat(names).as("%s", this).containsAll(filesOf(1));
      assertThat(names).as("%s", this).noneMatch(name -> name.endsWith(".expiring"));
      if (names.contains(ManifestNames.nameOf(0))) {
        assertThat(names).as("%s", this).containsAll(filesOf(0));
      }
    }

    /** Requires the tagged version, even if its manifest is still set aside. */
    private void requireTagged() {
      if (tagged > 0 && retagged == 0) {
        RecordTable table = RecordTable.at(storage, CLOCK);
        assertThat(table.tagged("kept").length()).as("%s", this).isEqualTo(3);
        assertThat(storage.names()).as("%s", this).containsAll(shardFilesOf(0));
      }
    }

    @Override
    public String toString() {
      return tagged + " tagged, " + retagged + " retagged, " + refused + " refused, " + killed
          + " killed, " + expired + " expired, " + storage.log();
    }
  }

  /** What happened in how many orders. */
  private static final class Tally {
    int orders;
    int tagged;
    int retagged;
    int refused;
    int killed;
    int expired;
    int read;

    void add(World world) {
      orders++;
      tagged += world.tagged;
      retagged += world.retagged;
      refused += world.refused;
      killed += world.killed;
      expired += world.expired;
      read += world.read;
    }

    @Override
    public String toString() {
      return orders + " orders: " + tagged + " tags, " + expired + " expired, " + read + " read, "
          + refused + " refused, " + killed + " killed";
    }
  }

  private static Set<String> filesOf(int version) {
    Set<String> files = new HashSet<>(shardFilesOf(version));
    files.add(ManifestNames.nameOf(version));
    return files;
  }

  private static Set<String> shardFilesOf(int version) {
    return SHARD_FILES.get(version);
  }

  private static void tag(World world, Storage storage) {
    try {
      RecordTable.at(storage, CLOCK).tag(0, "kept");
      world.tagged++;
    } catch (VersionNotFoundException e) {
      assertThat(e).hasMessageContaining("it was expired");
      world.refused++;
    }
  }

  private static void expire(World world, Storage storage) {
    int count = RecordTable.at(storage, CLOCK).expire(EXPIRE).expired().size();
    world.expired += count;
  }

  private static void sweep(World world, Storage storage) {
    try {
      RecordTable.at(storage, CLOCK).sweep(SWEEP, orphan -> {});
    } catch (StorageException e) {
      // While a tag is there whose manifest is missing.
      assertThat(e).hasMessageContaining("Cannot tell what");
    }
  }

  /** Sweeps, or fails as a sweep may while others do what they must not. */
  private static void sweepOrFail(World world, Storage storage) {
    try {
      sweep(world, storage);
    } catch (MissingFileException e) {
      world.refused++;
    }
  }

  private static void readAsOf(World world, Storage storage) {
    try {
      Instant time = NOW.minus(Duration.ofHours(8));
      TableSnapshot snapshot = RecordTable.at(storage, CLOCK).asOf(time);
      assertThat(snapshot.version()).isZero();
      assertThat(snapshot.length()).isEqualTo(3);
      world.read++;
    } catch (VersionNotFoundException e) {
      world.refused++;
    }
  }

  /** Takes the name away from who has it, and gives it to the version that stays. */
  private static void tagAnother(World world, Storage storage) {
    new TagLog(storage).delete("kept");
    try {
      RecordTable.at(storage, CLOCK).tag(1, "kept");
      world.retagged++;
    } catch (CommitConflictException e) {
      assertThat(e).hasMessageContaining("taken by version 0");
    }
  }

  private static void tagUnlessTaken(World world, Storage storage) {
    try {
      tag(world, storage);
    } catch (CommitConflictException e) {
      world.refused++;
    }
  }

  /**
   * Tags as a tagging must not: publishes first, and deletes what has the name if the version is
   * gone.
   */
  private static void tagAndTakeBack(World world, Storage storage) {
    TagLog tags = new TagLog(storage);
    if (tags.publish(new TagLog.Entry("kept", 0, NOW.toEpochMilli()))
        && !storage.exists(ManifestNames.nameOf(0))
        && new ManifestLog(storage).aside().isEmpty()) {
      tags.delete("kept");
    }
  }

  /** Expires as an expiry must not: deletes first, and publishes again if a tag came. */
  private static void expireAndPublishAgain(World world, Storage storage) {
    String name = ManifestNames.nameOf(0);
    if (new TagLog(storage).versions().isEmpty()) {
      byte[] content = storage.read(name, SealedJson.MAX_BYTES);
      storage.delete(name);
      if (!new TagLog(storage).versions().isEmpty()) {
        storage.publish(name, content);
      }
    }
  }

  /** Kills the work before one of its calls. */
  private static Work<World> killed(int call, Work<World> work) {
    return (world, storage) -> {
      MortalStorage mortal = new MortalStorage(storage, call);
      try {
        work.run(world, mortal.storage());
      } catch (MortalStorage.KilledError e) {
        world.killed++;
      }
    };
  }

  /** Runs these at once in every order. */
  private static Tally all(List<Work<World>> work) throws Exception {
    Tally tally = new Tally();
    int count = Interleavings.run(() -> new World(tally), work);
    assertThat(count).isEqualTo(tally.orders);
    System.out.println(tally);
    return tally;
  }

  @Test
  void aTagThatIsGivenWhileItsVersionIsExpiredKeepsIt() throws Exception {
    Tally tally = all(List.of(ExpireRaceTest::tag, ExpireRaceTest::expire));
    assertThat(tally.tagged).isPositive();
    assertThat(tally.refused).isPositive();
  }

  @Test
  void soItDoesWhileTheFilesOfExpiredVersionsAreSwept() throws Exception {
    Tally tally = all(List.of(ExpireRaceTest::tag, ExpireRaceTest::expire, ExpireRaceTest::sweep));
    assertThat(tally.tagged).isPositive();
    assertThat(tally.refused).isPositive();
  }

  @Test
  void soDoTwoWhoGiveTheSameTag() throws Exception {
    Tally tally = all(List.of(ExpireRaceTest::tag, ExpireRaceTest::tag, ExpireRaceTest::expire));
    assertThat(tally.tagged).isPositive();
    assertThat(tally.refused).isPositive();
  }

  @Test
  void twoWhoExpireAtOnceDoNotHurtEachOther() throws Exception {
    Tally tally = all(List.of(ExpireRaceTest::expire, ExpireRaceTest::expire));
    assertThat(tally.expired).as("each version is expired by one").isEqualTo(tally.orders);
    tally = all(List.of(ExpireRaceTest::expire, ExpireRaceTest::expire, ExpireRaceTest::tag));
    assertThat(tally.tagged).isPositive();
    assertThat(tally.refused).isPositive();
  }

  @Test
  void whoReadsAsOfATimeGetsTheVersionOrIsToldThatItWasExpired() throws Exception {
    Tally tally = all(List.of(ExpireRaceTest::readAsOf, ExpireRaceTest::expire));
    assertThat(tally.read).isPositive();
    assertThat(tally.refused).isPositive();
  }

  @Test
  void anExpiryKilledAtAnyCallLosesNoTag() throws Exception {
    int call = 0;
    while (all(List.of(ExpireRaceTest::tag, killed(call, ExpireRaceTest::expire))).killed > 0) {
      call++;
    }
    assertThat(call).isGreaterThan(8);
  }

  @Test
  void aTagThatIsRefusedTakesNobodysTagAway() throws Exception {
    Tally tally = all(List.of(
        ExpireRaceTest::tagUnlessTaken, ExpireRaceTest::tagAnother, ExpireRaceTest::expire));
    assertThat(tally.retagged).isPositive();
    assertThat(tally.refused).isPositive();
  }

  /** The controls. */
  @Test
  void aTagThatIsTakenBackByItsNameMayBeAnothers() {
    assertThatThrownBy(() -> all(List.of(
            ExpireRaceTest::tagAndTakeBack, ExpireRaceTest::tagAnother, ExpireRaceTest::expire)))
        .isInstanceOf(AssertionError.class);
  }

  @Test
  void anExpiryThatDeletesFirstLosesTheVersionToASweep() {
    assertThatThrownBy(() -> all(List.of(
            ExpireRaceTest::tag,
            ExpireRaceTest::expireAndPublishAgain,
            ExpireRaceTest::sweepOrFail)))
        .isInstanceOf(AssertionError.class);
  }

  @Test
  void anExpiryThatDeletesFirstLosesTheVersionWhenItIsKilled() {
    assertThatThrownBy(() -> {
          for (int call = 0; call < 9; call++) {
            all(List.of(ExpireRaceTest::tag, killed(call, ExpireRaceTest::expireAndPublishAgain)));
          }
        })
        .isInstanceOfAny(AssertionError.class, VersionNotFoundException.class);
  }
}
