package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.TagNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.RetainedVersions;
import io.zrecord.internal.table.TagEntry;
import io.zrecord.storage.Storage;
import io.zrecord.table.Interleavings.Work;
import io.zrecord.testing.Cases;
import io.zrecord.testing.MemoryStorage;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * Tagging, expiring, sweeping and reading at once, in every order of their calls: a tag that was
 * given keeps its version whole, one that was refused leaves nothing, and nobody fails. Version 0
 * of the table is to be expired, version 1 shares nothing with it.
 */
final class ExpireRaceTest {
  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final Instant FIRST = NOW.minus(Duration.ofHours(9));
  private static final ExpireOptions EXPIRE =
      ExpireOptions.defaults().withOlderThan(Duration.ofHours(1));
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);
  private static final MemoryStorage PLAIN = template();
  private static final MemoryStorage TAGGED = tagged();
  private static final MemoryStorage EXPIRED = expired();
  private static final List<Set<String>> SHARD_FILES = List.of(filesBelow(0), filesBelow(1));

  private static MemoryStorage template() {
    MemoryStorage storage = new MemoryStorage();
    RecordTable.at(storage, InstantSource.fixed(FIRST))
        .commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 1, 2, 3)));
    RecordTable.at(storage, InstantSource.fixed(FIRST.plus(Duration.ofHours(3))))
        .commit(Shards.overwrite(OptionalLong.of(0), Shards.write(storage, Shards.SCHEMA, 4)));
    return storage;
  }

  /** Makes the same table with a tag of version 0. */
  private static MemoryStorage tagged() {
    MemoryStorage storage = new MemoryStorage();
    copy(PLAIN, storage);
    RecordTable.at(storage, InstantSource.fixed(NOW)).tag(0, "kept");
    return storage;
  }

  /** Makes the same table with a tag of version 0, whose manifest is gone. */
  private static MemoryStorage expired() {
    MemoryStorage storage = new MemoryStorage();
    copy(TAGGED, storage);
    RecordTable.at(storage, InstantSource.fixed(NOW)).expire(EXPIRE);
    assertThat(storage.names()).doesNotContain(ManifestNames.nameOf(0));
    return storage;
  }

  private static void copy(MemoryStorage from, MemoryStorage to) {
    from.names().forEach(name -> to.overwrite(name, from.read(name, SealedJson.MAX_BYTES)));
  }

  private static Set<String> filesBelow(long version) {
    String shard = RecordTable.at(PLAIN).version(version).shards().get(0).directory();
    return PLAIN.names().stream()
        .filter(name -> name.startsWith(shard + "/"))
        .collect(Collectors.toSet());
  }

  /**
   * The table, and how those who worked on it fared. Its files are old, and what the workers write
   * is young.
   */
  private static final class World implements Interleavings.World, InstantSource {
    private Instant now = FIRST;
    final MemoryStorage storage = Simulation.storage(this);
    /** Tags that somebody was told of. */
    final Set<String> given = new TreeSet<>();

    int tagged;
    int refused;
    int killed;
    int expired;
    int read;
    private final Tally tally;

    World(Tally tally, MemoryStorage template) {
      this.tally = tally;
      copy(template, storage);
      newest().tags().forEach(tag -> given.add(tag.name()));
      now = NOW;
    }

    @Override
    public Instant instant() {
      return now;
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
      tally.add(this);
      requireTagged();
      if (killed == 0) {
        assertThat(filesOfTags()).as("copies, %s", this).isEqualTo(namedCopies());
      }
      // Those who come next finish what was cut short, and what nothing names grows old.
      RecordTable table = RecordTable.at(storage, this);
      table.expire(EXPIRE);
      now = now.plus(Duration.ofDays(1));
      table.sweep(SWEEP, orphan -> {});
      requireTagged();
      assertThat(storage.names()).as("%s", this).isEqualTo(namedFiles());
    }

    private Manifest newest() {
      return new ManifestLog(storage).newest().orElseThrow();
    }

    /** Requires the records and files of each tag, and the tag that somebody was told of. */
    private void requireTagged() {
      RecordTable table = RecordTable.at(storage, this);
      List<Tag> tags = table.tags();
      assertThat(tags).extracting(Tag::name).as("%s", this).containsAll(given);
      if (killed == 0) {
        assertThat(tags).as("%s", this).hasSameSizeAs(given);
      }
      for (Tag tag : tags) {
        assertThat(tag.version()).as("%s", this).isZero();
        assertThat(table.tagged(tag.name()).length()).as("%s", this).isEqualTo(3);
        assertThat(table.version(0).length()).as("%s", this).isEqualTo(3);
        assertThat(storage.names()).as("%s", this).containsAll(SHARD_FILES.get(0));
      }
    }

    private Set<String> filesOfTags() {
      return storage.names().stream()
          .filter(name -> name.startsWith(TagNames.DIRECTORY + "/"))
          .collect(Collectors.toSet());
    }

    private Set<String> namedCopies() {
      return newest().tags().stream().map(TagEntry::file).collect(Collectors.toSet());
    }

    /** Returns what a table has of which every expiry has ended: no gap, and nothing below. */
    private Set<String> namedFiles() {
      Manifest newest = newest();
      assertThat(newest.oldest()).as("%s", this).isOne();
      Set<String> files = new TreeSet<>(SHARD_FILES.get(1));
      files.add(ManifestNames.HINT);
      LongStream.rangeClosed(newest.oldest(), newest.version())
          .mapToObj(ManifestNames::nameOf)
          .forEach(files::add);
      if (!newest.tags().isEmpty()) {
        files.addAll(namedCopies());
        files.addAll(SHARD_FILES.get(0));
      }
      return files;
    }

    /** Returns how many versions an operation has made. */
    long count(String operation) {
      RecordTable table = RecordTable.at(storage, this);
      return table.versions().stream()
          .filter(version -> table.version(version).operation().equals(operation))
          .count();
    }

    @Override
    public String toString() {
      return tagged + " tagged, " + refused + " refused, " + killed + " killed, " + expired
          + " expired, " + storage.log();
    }
  }

  /** What happened in how many orders. */
  private static final class Tally {
    int orders;
    int tagged;
    int refused;
    int killed;
    int expired;
    int read;

    void add(World world) {
      orders++;
      tagged += world.tagged;
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

  private static void tag(World world, Storage storage) {
    tag(world, storage, "kept");
  }

  private static void tagAgain(World world, Storage storage) {
    tag(world, storage, "again");
  }

  private static void tag(World world, Storage storage, String name) {
    try {
      RecordTable.at(storage, world).tag(0, name);
      world.tagged++;
      world.given.add(name);
    } catch (VersionNotFoundException e) {
      assertThat(e).hasMessageContaining("it was expired");
      world.refused++;
    }
  }

  private static void untagAndSweep(World world, Storage storage) {
    RecordTable.at(storage, world).untag("kept");
    world.given.remove("kept");
    sweep(world, storage);
  }

  private static void expire(World world, Storage storage) {
    int count = RecordTable.at(storage, world).expire(EXPIRE).expired().size();
    // Not before the call, for another may expire meanwhile.
    world.expired += count;
  }

  private static void sweep(World world, Storage storage) {
    RecordTable.at(storage, world).sweep(SWEEP, orphan -> {});
  }

  private static void readAsOf(World world, Storage storage) {
    try {
      TableSnapshot snapshot = RecordTable.at(storage, world).asOf(FIRST.plus(Duration.ofHours(1)));
      assertThat(snapshot.version()).isZero();
      assertThat(snapshot.length()).isEqualTo(3);
      world.read++;
    } catch (VersionNotFoundException e) {
      world.refused++;
    }
  }

  private static void readTagged(World world, Storage storage) {
    try {
      TableSnapshot snapshot = RecordTable.at(storage, world).tagged("kept");
      assertThat(snapshot.version()).isZero();
      assertThat(snapshot.length()).isEqualTo(3);
      world.read++;
    } catch (VersionNotFoundException e) {
      world.refused++;
    }
  }

  /** Kills the work before one of its calls. */
  private static Work<World> killed(long call, Work<World> work) {
    return (world, storage) -> {
      MortalStorage mortal = new MortalStorage(storage, Math.toIntExact(call));
      try {
        work.run(world, mortal.storage());
      } catch (MortalStorage.KilledError e) {
        world.killed++;
      }
    };
  }

  /** Counts the calls of the work. */
  private static Work<World> counted(AtomicInteger most, Work<World> work) {
    return (world, storage) -> {
      MortalStorage immortal = new MortalStorage(storage, Integer.MAX_VALUE);
      work.run(world, immortal.storage());
      most.accumulateAndGet(immortal.calls(), Math::max);
    };
  }

  /** Runs these at once in every order. */
  private static Tally all(List<Work<World>> work) throws Exception {
    return all(PLAIN, work);
  }

  private static Tally all(MemoryStorage template, List<Work<World>> work) throws Exception {
    Tally tally = new Tally();
    int count = Interleavings.all(() -> new World(tally, template), work);
    assertThat(count).isEqualTo(tally.orders);
    return tally;
  }

  /** Runs these at once in the share of about so many orders, and requires what they show. */
  private static Tally some(
      int about, MemoryStorage template, Predicate<Tally> isShown, List<Work<World>> work)
      throws Exception {
    Tally tally = new Tally();
    int count = Interleavings.some(
        about, () -> new World(tally, template), work, () -> isShown.test(tally));
    assertThat(count).isEqualTo(tally.orders);
    assertThat(isShown.test(tally)).as("%s", tally).isTrue();
    return tally;
  }

  private static boolean isGivenAndRefused(Tally tally) {
    return tally.tagged > 0 && tally.refused > 0;
  }

  @Test
  void aTagThatIsGivenWhileItsVersionIsExpiredKeepsIt() throws Exception {
    Tally tally = all(List.of(ExpireRaceTest::tag, ExpireRaceTest::expire));
    assertThat(tally.tagged).isPositive();
    assertThat(tally.refused).isPositive();
  }

  @Test
  void soItDoesWhileTheFilesOfExpiredVersionsAreSwept() throws Exception {
    some(
        12_278,
        PLAIN,
        ExpireRaceTest::isGivenAndRefused,
        List.of(ExpireRaceTest::tag, ExpireRaceTest::expire, ExpireRaceTest::sweep));
  }

  @Test
  void soDoTwoWhoGiveTheSameTag() throws Exception {
    some(
        1741,
        PLAIN,
        ExpireRaceTest::isGivenAndRefused,
        List.of(ExpireRaceTest::tag, ExpireRaceTest::tag, ExpireRaceTest::expire));
  }

  @Test
  void twoWhoExpireAtOnceExpireEachVersionOnce() throws Exception {
    Tally tally = new Tally();
    List<World> worlds = new ArrayList<>();
    Interleavings.all(
        () -> {
          worlds.add(new World(tally, PLAIN));
          return worlds.get(worlds.size() - 1);
        },
        List.<Work<World>>of(ExpireRaceTest::expire, ExpireRaceTest::expire));
    assertThat(tally.expired).as("each version is expired by one").isEqualTo(tally.orders);
    assertThat(worlds).allMatch(world -> world.count("expire") == 1);
  }

  @Test
  void soDoTwoWhoExpireBesideOneWhoTags() throws Exception {
    some(
        16_936,
        PLAIN,
        ExpireRaceTest::isGivenAndRefused,
        List.of(ExpireRaceTest::expire, ExpireRaceTest::expire, ExpireRaceTest::tag));
  }

  @Test
  void whoReadsAsOfATimeGetsTheVersionOrIsToldThatItWasExpired() throws Exception {
    Tally tally = all(List.of(ExpireRaceTest::readAsOf, ExpireRaceTest::expire));
    assertThat(tally.read).isPositive();
    assertThat(tally.refused).isPositive();
  }

  @Test
  void whoReadsATagWhileItIsRemovedAndSweptGetsItsRecordsOrIsTold() throws Exception {
    Tally tally = all(EXPIRED, List.of(ExpireRaceTest::readTagged, ExpireRaceTest::untagAndSweep));
    assertThat(tally.read).isPositive();
    assertThat(tally.refused).isPositive();
  }

  /** Whoever tags may read the copy of the other tag, which is old. */
  @Test
  void aTagThatIsGivenWhileAnotherIsRemovedAndSweptKeepsTheVersionOrIsRefused() throws Exception {
    Tally above = some(
        908,
        TAGGED,
        tally -> tally.tagged > 0,
        List.of(ExpireRaceTest::tagAgain, ExpireRaceTest::untagAndSweep));
    assertThat(above.tagged).as("the version is there").isEqualTo(above.orders);
    Tally below = all(EXPIRED, List.of(ExpireRaceTest::tagAgain, ExpireRaceTest::untagAndSweep));
    assertThat(below.tagged).isPositive();
    assertThat(below.refused).isPositive();
  }

  @Test
  void anExpiryKilledAtAnyCallLosesNoTag() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    all(List.of(ExpireRaceTest::tag, counted(calls, ExpireRaceTest::expire)));
    assertThat(calls.get()).isGreaterThan(8);
    for (long call : Cases.before(calls.get())) {
      Tally tally = all(List.of(ExpireRaceTest::tag, killed(call, ExpireRaceTest::expire)));
      assertThat(tally.killed).as("before call %s", call).isPositive();
    }
  }

  @Test
  void aTaggingKilledAtAnyCallLeavesAWholeTagOrWhatASweepRemoves() throws Exception {
    AtomicInteger calls = new AtomicInteger();
    all(List.of(counted(calls, ExpireRaceTest::tag), ExpireRaceTest::expire));
    assertThat(calls.get()).isGreaterThan(8);
    for (long call : Cases.before(calls.get())) {
      Tally tally = all(List.of(killed(call, ExpireRaceTest::tag), ExpireRaceTest::expire));
      assertThat(tally.killed).as("before call %s", call).isPositive();
    }
  }

  /** The controls: they tag and expire as nobody must. */
  private static void tagWithoutALookAtTheFloor(World world, Storage storage) {
    ManifestLog log = new ManifestLog(storage);
    Manifest newest = log.newest().orElseThrow();
    TagEntry tag;
    try {
      tag = log.copy(new RetainedVersions(log, "", newest).file(0), "kept", world.millis());
    } catch (MissingFileException | VersionNotFoundException e) {
      world.refused++;
      return;
    }
    while (!log.publish(NextManifests.tag(newest, tag, world.millis()))) {
      newest = log.newest().orElseThrow();
    }
    world.given.add("kept");
  }

  private static void tagWithACopyOfBefore(World world, Storage storage) {
    ManifestLog log = new ManifestLog(storage);
    Manifest newest = log.newest().orElseThrow();
    Optional<TagEntry> other = newest.tag("kept");
    if (other.isEmpty()) {
      return;
    }
    TagEntry first = other.get();
    TagEntry tag = new TagEntry(
        "again", 0, world.millis(), first.file(), first.lengthBytes(), first.checksum());
    while (!log.publish(NextManifests.tag(newest, tag, world.millis()))) {
      newest = log.newest().orElseThrow();
    }
    world.given.add("again");
  }

  private static void tagWithoutACopy(World world, Storage storage) {
    ManifestLog log = new ManifestLog(storage);
    Manifest newest = log.newest().orElseThrow();
    TagEntry tag = new TagEntry("kept", 0, world.millis(), TagNames.newFile(), 1, 0);
    while (newest.oldest() == 0) {
      if (log.publish(NextManifests.tag(newest, tag, world.millis()))) {
        world.given.add("kept");
        return;
      }
      newest = log.newest().orElseThrow();
    }
    world.refused++;
  }

  private static void expireAfterDeleting(World world, Storage storage) {
    ManifestLog log = new ManifestLog(storage);
    Manifest newest = log.newest().orElseThrow();
    UUID floorCommit = log.link(1).commitId();
    storage.delete(ManifestNames.nameOf(0));
    new Committer(storage, log, world)
        .commit(new ExpireCommit(storage.location(), log, newest, 1, floorCommit));
  }

  private static void expireAndSweep(World world, Storage storage) {
    expire(world, storage);
    sweep(world, storage);
  }

  @Test
  void aTagGivenWithoutALookAtTheFloorIsOfAVersionWhoseFilesWereSwept() {
    assertThatThrownBy(() ->
            all(List.of(ExpireRaceTest::tagWithoutALookAtTheFloor, ExpireRaceTest::expireAndSweep)))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining(SHARD_FILES.get(0).iterator().next());
  }

  @Test
  void aTagThatSharesTheCopyOfOneThatWasRemovedSinceIsLost() {
    assertThatThrownBy(() -> all(
            EXPIRED, List.of(ExpireRaceTest::tagWithACopyOfBefore, ExpireRaceTest::untagAndSweep)))
        .hasStackTraceContaining(MissingFileException.class.getName())
        .hasMessageContaining("/tag/");
  }

  @Test
  void aTagWithoutACopyIsLostWithItsManifest() {
    assertThatThrownBy(() -> all(List.of(ExpireRaceTest::tagWithoutACopy, ExpireRaceTest::expire)))
        .hasStackTraceContaining(MissingFileException.class.getName())
        .hasMessageContaining("/tag/");
  }

  @Test
  void anExpiryThatDeletesBeforeItCommitsLosesTheVersionWhenItIsKilled() {
    assertThatThrownBy(() -> {
          for (int call = 0; call < 20; call++) {
            all(List.of(killed(call, ExpireRaceTest::expireAfterDeleting)));
          }
        })
        .hasStackTraceContaining(MissingFileException.class.getName())
        .hasMessageContaining(ManifestNames.nameOf(0));
  }
}
