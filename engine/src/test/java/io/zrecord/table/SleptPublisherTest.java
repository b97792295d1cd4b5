package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.Interleavings.Work;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.MemoryStorage;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * A commit beside others who commit for hours and then expire what it was planned on. It may sleep
 * before any of its calls, and the number that it publishes under may have been used and freed. If
 * it is told of success, the newest version has its record. This is so in every order of its calls,
 * of the commits of the others, and of the deletions of the expiry.
 */
final class SleptPublisherTest {
  private static final Instant START = Instant.parse("2026-01-02T00:00:00Z");
  private static final InstantSource STILL = InstantSource.fixed(START);
  private static final ExpireOptions EXPIRE =
      ExpireOptions.defaults().withOlderThan(Duration.ofHours(1));

  /** The directory that a commit of the others changes. */
  private static final String STEP = ManifestNames.DIRECTORY;

  private static final MemoryStorage TEMPLATE = new MemoryStorage();
  private static final ShardSummary FIRST = Shards.write(TEMPLATE, Shards.SCHEMA, 0);
  private static final ShardSummary OWN = Shards.write(TEMPLATE, Shards.SCHEMA, 1);
  private static final List<ShardSummary> OTHERS = List.of(
      Shards.write(TEMPLATE, Shards.SCHEMA, 2),
      Shards.write(TEMPLATE, Shards.SCHEMA, 3),
      Shards.write(TEMPLATE, Shards.SCHEMA, 4));

  /** A table or none yet, shards that are to be committed, and how the one who slept fared. */
  private static final class World implements Interleavings.World, InstantSource {
    final MemoryStorage storage = Simulation.storage();
    final OptionalLong base;
    private final Tally tally;
    private Instant now = START;
    int succeeded;
    int unknown;
    int failed;

    World(Tally tally, boolean hasTable) {
      this.tally = tally;
      TEMPLATE
          .names()
          .forEach(name -> storage.overwrite(name, TEMPLATE.read(name, SealedJson.MAX_BYTES)));
      if (hasTable) {
        RecordTable.at(storage, this).commit(Shards.append(OptionalLong.empty(), FIRST));
      }
      base = hasTable ? OptionalLong.of(0) : OptionalLong.empty();
    }

    @Override
    public Instant instant() {
      return now;
    }

    /** Returns a storage in which deleting {@link #STEP} does nothing. */
    @Override
    public Storage storage() {
      return new ForwardingStorage(storage) {
        @Override
        public void delete(String name) {
          if (!name.equals(STEP)) {
            super.delete(name);
          }
        }
      };
    }

    @Override
    public Storage seen(Storage ordered) {
      return new WithoutHint(ordered);
    }

    /**
     * Begins a step, which is whatever the worker does without the storage it was given. It is one
     * call of an order, and no other call that looks at manifests or changes them may change places
     * with it.
     */
    void beginStep(Storage seen) {
      seen.delete(STEP);
    }

    /** Returns the storage of a step, whose deletions are calls of their own. */
    Storage withDeletions(Storage seen) {
      return new WithoutHint(storage) {
        @Override
        public void delete(String name) {
          seen.delete(name);
        }
      };
    }

    /**
     * Returns the clock as a worker sees it. A look at it is a call that a step may come before.
     */
    InstantSource clockSeenBy(Storage seen) {
      return () -> {
        seen.exists(STEP + "/clock");
        return now;
      };
    }

    @Override
    public void check() {
      tally.add(this);
      RecordTable table = RecordTable.at(storage, this);
      List<ShardSummary> shards = table.latest().shards();
      assertThat(shards).as("%s", this).containsAll(OTHERS);
      if (succeeded > 0) {
        assertThat(shards).as("%s", this).contains(OWN);
      }
      Manifest newest = new ManifestLog(storage).newest().orElseThrow();
      if (failed > 0) {
        for (long version = newest.oldest(); version <= newest.version(); version++) {
          assertThat(table.version(version).shards()).as("%s", this).doesNotContain(OWN);
        }
      }
      // What was left below the floor goes with the next expiry.
      now = now.plus(Duration.ofHours(2));
      table.expire(EXPIRE);
      newest = new ManifestLog(storage).newest().orElseThrow();
      assertThat(new ManifestLog(storage).listed())
          .as("%s", this)
          .containsExactlyElementsOf(
              LongStream.rangeClosed(newest.oldest(), newest.version()).boxed().toList());
    }

    @Override
    public String toString() {
      return succeeded + " succeeded, " + unknown + " unknown, " + failed + " failed, "
          + storage.log();
    }
  }

  /** What happened in how many orders. */
  private static final class Tally {
    int orders;
    int succeeded;
    int unknown;
    int failed;

    void add(World world) {
      orders++;
      succeeded += world.succeeded;
      unknown += world.unknown;
      failed += world.failed;
    }

    @Override
    public String toString() {
      return orders + " orders: " + succeeded + " succeeded, " + unknown + " unknown, " + failed
          + " failed";
    }
  }

  private static void publish(World world, Storage storage) {
    publish(world, storage, world.clockSeenBy(storage));
  }

  private static void publishWithAStoppedClock(World world, Storage storage) {
    publish(world, storage, STILL);
  }

  private static void publish(World world, Storage storage, InstantSource clock) {
    publish(world, storage, clock, Shards.append(world.base, OWN));
  }

  /** Keeps all records, and fails if there are others meanwhile. */
  private static void overwrite(World world, Storage storage) {
    TableChange change = Shards.overwrite(world.base, FIRST, OWN);
    publish(world, storage, world.clockSeenBy(storage), change);
  }

  private static void publish(
      World world, Storage storage, InstantSource clock, TableChange change) {
    try {
      RecordTable.at(storage, clock).commit(change);
      world.succeeded++;
    } catch (CommitOutcomeUnknownException e) {
      world.unknown++;
    } catch (ZRecordException e) {
      world.failed++;
    }
  }

  private static void others(World world, Storage storage) {
    world.beginStep(storage);
    appendOthers(world);
    world.beginStep(storage);
    RecordTable.at(world.withDeletions(storage), world).expire(EXPIRE);
  }

  /**
   * Makes three versions, with two hours after each: then an expiry deletes the one above the
   * number that was slept on, too.
   */
  private static void appendOthers(World world) {
    RecordTable table = RecordTable.at(world.storage, world);
    for (ShardSummary shard : OTHERS) {
      table.commit(Shards.append(Shards.newest(table), shard));
      world.now = world.now.plus(Duration.ofHours(2));
    }
  }

  /** Publishes version 0 again at the end, as a request does that was under way for hours. */
  private static void othersAndADelayedRequest(World world, Storage storage) {
    byte[] content = world.storage.read(ManifestNames.nameOf(0), SealedJson.MAX_BYTES);
    others(world, storage);
    storage.publish(ManifestNames.nameOf(0), content);
  }

  /** Runs these at once in the share of about so many orders, and requires what they show. */
  private static Tally some(
      int about, boolean hasTable, Predicate<Tally> isShown, List<Work<World>> work)
      throws Exception {
    Tally tally = new Tally();
    int count = Interleavings.some(
        about, () -> new World(tally, hasTable), work, () -> isShown.test(tally));
    assertThat(count).isEqualTo(tally.orders);
    assertThat(isShown.test(tally)).as("%s", tally).isTrue();
    return tally;
  }

  /** Requires orders that succeed and such of which nobody knows, and none that fails. */
  private static void requireBoth(int about, boolean hasTable, List<Work<World>> work)
      throws Exception {
    Tally shown = some(about, hasTable, tally -> tally.succeeded > 0 && tally.unknown > 0, work);
    assertThat(shown.failed).isZero();
  }

  @Test
  void whoIsToldOfSuccessHasItsRecordInTheNewestVersion() throws Exception {
    requireBoth(615, true, List.of(SleptPublisherTest::publish, SleptPublisherTest::others));
  }

  /** If it is told of a failure, no version has its shard; if not, the others keep its record. */
  @Test
  void soItIsOfAnOverwrite() throws Exception {
    some(
        394,
        true,
        tally -> tally.succeeded > 0 && tally.failed > 0,
        List.of(SleptPublisherTest::overwrite, SleptPublisherTest::others));
  }

  @Test
  void soItIsIfItsClockStoodStill() throws Exception {
    requireBoth(
        173,
        true,
        List.of(SleptPublisherTest::publishWithAStoppedClock, SleptPublisherTest::others));
  }

  /** Its clock stands still as well: before the first there is no version to look at. */
  @Test
  void soItIsOfOneWhoCreatesTheTable() throws Exception {
    requireBoth(
        247,
        false,
        List.of(SleptPublisherTest::publishWithAStoppedClock, SleptPublisherTest::others));
  }

  /** Then the version before is there again, with the commit that was expected of it. */
  @Test
  void soItIsBesideARequestOfTheVersionBeforeThatWasUnderWayForHours() throws Exception {
    requireBoth(
        788,
        true,
        List.of(SleptPublisherTest::publish, SleptPublisherTest::othersAndADelayedRequest));
  }

  /** Does something after version 1 was published and before the publisher is told. */
  private static Storage afterPublishing(World world, Runnable action) {
    return new ForwardingStorage(world.storage) {
      @Override
      public boolean publish(String name, byte[] content) {
        boolean isPublished = super.publish(name, content);
        if (name.equals(ManifestNames.nameOf(1))) {
          action.run();
        }
        return isPublished;
      }
    };
  }

  private static void publishFirst(World world, Runnable after) {
    RecordTable.at(afterPublishing(world, after), world).commit(Shards.append(world.base, OWN));
  }

  @Test
  void whoIsLateSucceedsIfTheChainOfLaterVersionsLeadsToItsOwn() {
    World world = new World(new Tally(), true);
    publishFirst(world, () -> appendOthers(world));
    RecordTable table = RecordTable.at(world.storage, world);
    assertThat(table.latest().version()).isEqualTo(4);
    assertThat(table.latest().shards()).contains(OWN);
  }

  @Test
  void whoIsLateIsUnclearIfALaterVersionFollowsAnotherCommit() {
    World world = new World(new Tally(), true);
    ManifestLog log = new ManifestLog(world.storage);
    assertThatThrownBy(() -> publishFirst(world, () -> {
          appendOthers(world);
          Manifest newest = log.newest().orElseThrow();
          ShardSummary shard = FIRST;
          log.publish(
              NextManifests.append(newest, Optional.of(UUID.randomUUID()), shard, world.millis()));
        }))
        .isInstanceOf(CommitOutcomeUnknownException.class)
        .hasMessageContaining("version 1");
  }

  /** The control: a version further above is no matter to one who is in time. */
  @Test
  void whoIsInTimeLooksAtTheVersionsBeforeAndAfterOnly() {
    World world = new World(new Tally(), true);
    ManifestLog log = new ManifestLog(world.storage);
    publishFirst(world, () -> {
      appendInTime(world);
      Manifest newest = log.newest().orElseThrow();
      ShardSummary shard = FIRST;
      log.publish(
          NextManifests.append(newest, Optional.of(UUID.randomUUID()), shard, world.millis()));
    });
    assertThat(log.read(1).shards()).contains(OWN);
    assertThatThrownBy(log::newest)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("does not follow version 2");
  }

  private static void appendInTime(World world) {
    RecordTable.at(world.storage, world).commit(Shards.append(OptionalLong.empty(), OTHERS.get(0)));
  }

  /** A hint that was behind led it to a number whose manifest was lost. */
  @Test
  void whoIsInTimeIsUnclearIfTheNextVersionFollowsAnotherCommit() {
    World world = new World(new Tally(), true);
    ManifestLog log = new ManifestLog(world.storage);
    assertThatThrownBy(() -> publishFirst(world, () -> {
          Manifest newest = log.newest().orElseThrow();
          log.publish(
              NextManifests.append(newest, Optional.of(UUID.randomUUID()), FIRST, world.millis()));
        }))
        .isInstanceOf(CommitOutcomeUnknownException.class)
        .hasMessageContaining("the version after it was made for another one");
  }

  /** The controls: without each of the rules somebody is told of success and has lost a record. */
  private static void publishWithoutACheck(World world, Storage storage) {
    ManifestLog log = new ManifestLog(storage);
    Manifest newest = log.newest().orElseThrow();
    while (!log.publish(NextManifests.append(newest, OWN, START.toEpochMilli()))) {
      newest = log.newest().orElseThrow();
    }
    world.succeeded++;
  }

  private static void createWithoutACheck(World world, Storage storage) {
    ManifestLog log = new ManifestLog(storage);
    Optional<Manifest> newest = log.newest();
    if (newest.isEmpty()
        && log.publish(NextManifests.create(Shards.SCHEMA, OWN, START.toEpochMilli()))) {
      world.succeeded++;
    } else {
      world.failed++;
    }
  }

  /** Expires as an expiry must not: deletes the newest manifest first. */
  private static void othersWhoDeleteBackwards(World world, Storage storage) {
    world.beginStep(storage);
    appendOthers(world);
    world.beginStep(storage);
    ManifestLog log = new ManifestLog(world.storage);
    Manifest newest = log.newest().orElseThrow();
    long floor = newest.version();
    new Committer(world.storage, log, world)
        .commit(new ExpireCommit(storage.location(), log, newest, floor, newest.commitId()));
    for (long version = floor - 1; version >= 0; version--) {
      storage.delete(ManifestNames.nameOf(version));
    }
  }

  private static void requireLoss(boolean hasTable, List<Work<World>> work) {
    Tally tally = new Tally();
    assertThatThrownBy(() -> Interleavings.all(() -> new World(tally, hasTable), work))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("1 succeeded");
  }

  @Test
  void withoutACheckAfterPublishingARecordIsLost() {
    requireLoss(
        true, List.of(SleptPublisherTest::publishWithoutACheck, SleptPublisherTest::others));
  }

  @Test
  void besideAnExpiryThatDeletesTheNewestFirstARecordIsLost() {
    requireLoss(
        true,
        List.of(
            SleptPublisherTest::publishWithAStoppedClock,
            SleptPublisherTest::othersWhoDeleteBackwards));
  }

  @Test
  void withoutACheckAfterCreatingATableARecordIsLost() {
    requireLoss(
        false, List.of(SleptPublisherTest::createWithoutACheck, SleptPublisherTest::others));
  }

  @Test
  void besideADelayedRequestARecordIsLostIfTheClockStoodStill() {
    requireLoss(
        true,
        List.of(
            SleptPublisherTest::publishWithAStoppedClock,
            SleptPublisherTest::othersAndADelayedRequest));
  }
}
