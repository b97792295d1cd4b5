package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.TagEntry;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.testing.MemoryStorage;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A tagging, an untagging and an expiry whose storage fails at every one of its calls, in every
 * way. The table is whole afterwards, the caller is told what happened, and the same call again has
 * its effect.
 */
final class FaultyCareTest {
  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final InstantSource CLOCK = InstantSource.fixed(NOW);
  private static final ExpireOptions EXPIRE =
      ExpireOptions.defaults().withOlderThan(Duration.ofHours(1));

  /** A table of two old versions that share nothing, and what a call on it came to. */
  private static final class World {
    final MemoryStorage storage = Simulation.storage();
    final RecordTable table = RecordTable.at(storage, CLOCK);
    Optional<ZRecordException> failure = Optional.empty();

    World() {
      RecordTable before = RecordTable.at(storage, InstantSource.fixed(NOW.minusSeconds(90_000)));
      before.commit(
          Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 1, 2, 3)));
      before.commit(Shards.overwrite(OptionalLong.of(0), Shards.write(storage, Shards.SCHEMA, 4)));
    }

    boolean isTagged() {
      return !table.tags().isEmpty();
    }

    Manifest newest() {
      return new ManifestLog(storage).newest().orElseThrow();
    }

    /** Requires that the caller was told the truth, by whether the call had its effect. */
    void requireTold(boolean hasEffect, String situation) {
      if (failure.isEmpty()) {
        assertThat(hasEffect).as(situation).isTrue();
      } else if (!(failure.get() instanceof CommitOutcomeUnknownException)) {
        assertThat(hasEffect).as(situation).isFalse();
      }
      requireWhole(situation);
    }

    /** Requires the records of every version and tag. */
    void requireWhole(String situation) {
      assertThat(table.latest().length()).as(situation).isOne();
      assertThat(table.versions())
          .as(situation)
          .isNotEmpty()
          .allMatch(version -> table.version(version).length() > 0);
      if (isTagged()) {
        assertThat(table.tagged("kept").length()).as(situation).isEqualTo(3);
      }
    }
  }

  /** What is called, and what is required after each call that failed. */
  private interface Check {
    void run(World world, String situation);
  }

  /** Lets each call fail in turn. */
  private static void atEachCall(
      FaultyStorage.Fault fault, Consumer<World> before, Consumer<Storage> care, Check check) {
    for (int failing : new int[] {1, 1000}) {
      int call = 0;
      int failures = 0;
      FaultyStorage faulty;
      do {
        World world = new World();
        before.accept(world);
        faulty = new FaultyStorage(world.storage, fault, call, failing);
        try {
          care.accept(faulty);
        } catch (ZRecordException e) {
          world.failure = Optional.of(e);
          failures++;
        }
        faulty.landDelayed();
        check.run(world, fault + " at call " + call + ", " + failing + " calls, " + world.failure);
        call++;
      } while (faulty.calls() >= call);
      assertThat(failures).as("%s, %s calls", fault, failing).isGreaterThan(4);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aTaggingIsReportedAsWhatItWas(FaultyStorage.Fault fault) {
    atEachCall(
        fault,
        world -> {},
        storage -> RecordTable.at(storage, CLOCK).tag(0, "kept"),
        (world, situation) -> {
          world.requireTold(world.isTagged(), situation);
          world.table.tag(0, "kept");
          world.failure = Optional.empty();
          world.requireTold(world.isTagged(), situation);
          // What is left of a failure is for a sweep.
          assertThat(world.storage.list("tag"))
              .as(situation)
              .hasSizeLessThanOrEqualTo(2)
              .extracting(StoredFile::name)
              .containsAll(world.newest().tags().stream()
                  .map(TagEntry::file)
                  .map(file -> file.substring("tag/".length()))
                  .toList());
        });
  }

  @ParameterizedTest
  @EnumSource
  void anUntaggingIsReportedAsWhatItWas(FaultyStorage.Fault fault) {
    atEachCall(
        fault,
        world -> world.table.tag(0, "kept"),
        storage -> RecordTable.at(storage, CLOCK).untag("kept"),
        (world, situation) -> {
          world.requireTold(!world.isTagged(), situation);
          if (world.isTagged()) {
            world.table.untag("kept");
          }
          assertThat(world.isTagged()).as(situation).isFalse();
          assertThat(world.newest().version()).as(situation).isEqualTo(3);
        });
  }

  /** An expiry that fails may have expired the versions and not deleted their manifests. */
  @ParameterizedTest
  @EnumSource
  void anExpiryThatFailsCanBeDoneAgain(FaultyStorage.Fault fault) {
    atEachCall(
        fault,
        world -> world.table.tag(0, "kept"),
        storage -> RecordTable.at(storage, CLOCK).expire(EXPIRE),
        (world, situation) -> {
          if (world.failure.isEmpty()) {
            assertThat(world.newest().oldest()).as(situation).isOne();
          }
          world.requireWhole(situation);
          world.table.expire(EXPIRE);
          assertThat(world.newest().oldest()).as(situation).isOne();
          assertThat(world.newest().version()).as(situation).isEqualTo(3);
          assertThat(world.storage.names())
              .as(situation)
              .doesNotContain(ManifestNames.nameOf(0))
              .contains(ManifestNames.nameOf(1));
          assertThat(world.table.tagged("kept").length()).as(situation).isEqualTo(3);
        });
  }
}
