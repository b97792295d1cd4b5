package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.testing.Budget;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.ObjectStorage;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The proofs of tables on a store of objects. Those that other tests have for files in memory run
 * here in part: what a store of objects does differently is how a sweep lists and deletes, and that
 * a reader asks for the version after the hint before that of the hint.
 */
final class ObjectTablesTest {
  private static final int COMMITTERS = 8;
  private static final int COMMITS = 12;

  @Test
  void everyRetainedVersionStaysAndNothingElseDoes() throws Exception {
    Simulation.ofObjects(() -> TableCareTest.run(Budget.of(10), Set.of()));
  }

  @Test
  void aWriteOfBeforeTheSweepKeepsItsFilesOrIsRefused() throws Exception {
    SweepRaceTest sweeps = new SweepRaceTest();
    Simulation.ofObjects(sweeps::aWriteOfBeforeTheSweepKeepsItsFilesOrIsRefused);
    Simulation.ofObjects(sweeps::aVersionWhoseTagIsExchangedForAnotherMeanwhileIsWhole);
    Simulation.ofObjects(sweeps::aWriteThatDoesNotLookAtWhatWasSweptLosesItsFiles);
  }

  @Test
  void aTagKeepsItsVersionBesideAnExpiryAndASweep() throws Exception {
    ExpireRaceTest expiries = new ExpireRaceTest();
    Simulation.ofObjects(expiries::aTaggingKilledAtAnyCallLeavesAWholeTagOrWhatASweepRemoves);
    Simulation.ofObjects(expiries::whoReadsATagWhileItIsRemovedAndSweptGetsItsRecordsOrIsTold);
    Simulation.ofObjects(expiries::aTagThatSharesTheCopyOfOneThatWasRemovedSinceIsLost);
  }

  @Test
  void whoIsToldOfSuccessHasCreatedTheTable() throws Exception {
    SleptPublisherTest sleepers = new SleptPublisherTest();
    Simulation.ofObjects(sleepers::soItIsOfOneWhoCreatesTheTable);
    Simulation.ofObjects(sleepers::withoutACheckAfterCreatingATableARecordIsLost);
  }

  @Test
  void aReaderFindsTheNewestVersionInEveryOrder() throws Exception {
    Simulation.ofObjects(new HintRaceTest()::nobodyReadsAVersionBeforeAnAcknowledgedOne);
    Simulation.ofObjects(new HintOrdersTest()::aReaderBesideAnExpiryFindsTheNewestVersion);
  }

  @ParameterizedTest
  @EnumSource
  void everyFailureIsReportedAsWhatItWas(FaultyStorage.Fault fault) throws Exception {
    FaultyCareTest care = new FaultyCareTest();
    Simulation.ofObjects(() -> care.aTaggingIsReportedAsWhatItWas(fault));
    for (int failing : new int[] {1, 1000}) {
      for (int call = 0; requireTold(fault, call, failing) > call; call++) {}
    }
  }

  /** Lets a commit fail at a call, and returns how many calls there were. */
  private static int requireTold(FaultyStorage.Fault fault, int call, int failing) {
    ObjectStorage objects = new ObjectStorage();
    RecordTable table = RecordTable.at(objects);
    table.commit(Shards.append(OptionalLong.empty(), Shards.write(objects, Shards.SCHEMA, 1)));
    TableChange change = Shards.append(OptionalLong.of(0), Shards.write(objects, Shards.SCHEMA, 2));
    FaultyStorage faulty = new FaultyStorage(objects, fault, call, failing);
    String situation = fault + " at call " + call + " of " + failing;
    try {
      RecordTable.at(faulty).commit(change);
      faulty.landDelayed();
      assertThat(table.latest().length()).as(situation).isEqualTo(2);
    } catch (CommitOutcomeUnknownException e) {
      faulty.landDelayed();
    } catch (ZRecordException e) {
      faulty.landDelayed();
      assertThat(table.latest().length()).as(situation).isOne();
    }
    assertThat(table.commit(change).length()).as(situation).isEqualTo(2);
    return faulty.calls();
  }

  @Test
  void committersThatAppendAtOnceLoseNothing() throws Exception {
    ObjectStorage objects = new ObjectStorage();
    Set<UUID> written = race(objects, COMMITS);
    assertThat(written).hasSize(COMMITTERS * COMMITS);
    assertThat(RecordTable.at(objects).latest().shards())
        .extracting(ShardSummary::id)
        .containsExactlyInAnyOrderElementsOf(written);
  }

  /** Nobody relies on a list. */
  @Test
  void soItIsWhereListsAreLate() throws Exception {
    ObjectStorage objects = new ObjectStorage();
    Storage late = new ForwardingStorage(objects) {
      @Override
      public List<io.zrecord.storage.StoredFile> list(String directory) {
        return directory.equals(ManifestNames.DIRECTORY) ? List.of() : super.list(directory);
      }
    };
    assertThat(race(late, 3)).hasSize(COMMITTERS * 3);
    assertThat(RecordTable.at(objects).latest().length()).isEqualTo(COMMITTERS * 3);
  }

  /**
   * A committer puts a version after another has acknowledged the same version. The control is a
   * store that ignores the condition of a put: the acknowledged commit is lost there.
   */
  @ParameterizedTest(name = "ignores the condition: {0}")
  @ValueSource(booleans = {false, true})
  void aPutThatComesLateLosesACommitOnlyWhereTheConditionIsIgnored(boolean isIgnored) {
    ObjectStorage objects = new ObjectStorage();
    // With the hint, the late committer finds that it overwrote, and does not acknowledge.
    Storage storage = new WithoutHint(objects);
    append(storage, 0);
    List<UUID> acknowledged = new ArrayList<>();
    Storage late = new ForwardingStorage(storage) {
      @Override
      public boolean publish(String name, byte[] content) {
        if (name.equals(ManifestNames.nameOf(1)) && acknowledged.isEmpty()) {
          acknowledged.add(append(storage, 1));
        }
        if (isIgnored) {
          objects.overwrite(name, content);
          return true;
        }
        return super.publish(name, content);
      }
    };
    acknowledged.add(append(late, 2));
    assertThat(acknowledged).hasSize(2);
    List<UUID> kept = ManifestLog.ofARepair(objects).newest().orElseThrow().shards().stream()
        .map(ShardSummary::id)
        .toList();
    assertThat(kept.containsAll(acknowledged)).isNotEqualTo(isIgnored);
    assertThat(kept).contains(acknowledged.get(1));
  }

  private static UUID append(Storage storage, long value) {
    ShardSummary shard = Shards.write(storage, Shards.SCHEMA, value);
    RecordTable.at(storage).commit(Shards.append(OptionalLong.empty(), shard));
    return shard.id();
  }

  private static Set<UUID> race(Storage storage, int commits) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(COMMITTERS);
    // On a busy machine one might have made all its commits before the next begins.
    CyclicBarrier together = new CyclicBarrier(COMMITTERS);
    try {
      List<Callable<Set<UUID>>> tasks = new ArrayList<>();
      for (int i = 0; i < COMMITTERS; i++) {
        tasks.add(() -> append(storage, commits, together));
      }
      Set<UUID> written = new HashSet<>();
      for (Future<Set<UUID>> future : threads.invokeAll(tasks)) {
        written.addAll(future.get());
      }
      return written;
    } finally {
      threads.shutdownNow();
    }
  }

  private static Set<UUID> append(Storage storage, int commits, CyclicBarrier together)
      throws Exception {
    Set<UUID> acknowledged = new HashSet<>();
    for (int commit = 0; commit < commits; commit++) {
      together.await();
      try {
        acknowledged.add(append(storage, commit));
      } catch (RuntimeException e) {
        together.reset(); // The others would wait for ever.
        throw e;
      }
    }
    return acknowledged;
  }

  /**
   * A creation that slept, while others created the table and expired its first version, publishes
   * the number that is free again. The late list shows nothing of the others.
   */
  @Test
  void aCreationThatSleptIsNotAcknowledgedThoughTheListIsLate() {
    Instant[] now = {Instant.parse("2026-01-02T00:00:00Z")};
    ObjectStorage objects = new ObjectStorage(() -> now[0]);
    RecordTable others = RecordTable.at(objects, () -> now[0]);
    ShardSummary own = Shards.write(objects, Shards.SCHEMA, 1);
    Storage slow = new ForwardingStorage(objects) {
      @Override
      public boolean publish(String name, byte[] content) {
        for (int version = 0; version < 3; version++) {
          ShardSummary other = Shards.write(objects, Shards.SCHEMA, 5);
          others.commit(Shards.append(Shards.newest(others), other));
          now[0] = now[0].plus(Duration.ofHours(2));
        }
        others.expire(
            ExpireOptions.defaults().withOlderThan(Duration.ofHours(1)).withKeepVersions(1));
        boolean isPublished = super.publish(name, content);
        assertThat(isPublished).as("the number is free again").isTrue();
        return true;
      }

      @Override
      public List<io.zrecord.storage.StoredFile> list(String directory) {
        return directory.equals(ManifestNames.DIRECTORY)
            ? super.list(directory).stream()
                .filter(file -> ManifestNames.nameOf(0).endsWith(file.name()))
                .toList()
            : super.list(directory);
      }
    };
    Instant start = now[0];
    RecordTable sleeper = RecordTable.at(slow, () -> start);
    assertThatThrownBy(() -> sleeper.commit(Shards.append(OptionalLong.empty(), own)))
        .isInstanceOf(CommitOutcomeUnknownException.class);
    assertThat(others.latest().shards()).doesNotContain(own);
  }
}
