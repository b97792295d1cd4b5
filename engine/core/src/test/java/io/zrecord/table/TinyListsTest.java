package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.internal.table.TinyLists;
import io.zrecord.testing.Budget;
import io.zrecord.testing.MemoryStorage;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The proofs of tables that other tests have for shards in manifests, in part, for shards in lists,
 * in lists of lists, and in the place of others.
 */
final class TinyListsTest {
  /** Otherwise the tests below would prove nothing. */
  @Test
  void aChangeOfATableOfTwoShardsReplacesAShardOfAList() throws Exception {
    MemoryStorage storage = Simulation.storage();
    RecordTable table = RecordTable.at(storage);
    TinyLists.run(() -> {
      table.commit(Shards.append(
          OptionalLong.empty(),
          Shards.write(storage, Shards.SCHEMA, 1, 2),
          Shards.write(storage, Shards.SCHEMA, 3, 4)));
      RowChange change = RowChange.of(table.latest());
      change.delete(1);
      change.commit();
    });
    List<ShardListFile> lists = new ManifestLog(storage).read(1).lists();
    assertThat(lists).singleElement().satisfies(list -> {
      assertThat(list.isOfLists()).isTrue();
      assertThat(list.replaced().ordinals()).containsExactly(0);
    });
    assertThat(table.latest().length()).isEqualTo(3);
  }

  @Test
  void everyRetainedVersionStaysAndNothingElseDoes() throws Exception {
    TinyLists.run(
        () -> TableCareTest.run(Budget.of(30), Set.of("files swept", "groups rewritten")));
  }

  @Test
  void changesOfRecordsBothSucceedOrOneIsRefused() throws Exception {
    RowRaceTest rows = new RowRaceTest();
    TinyLists.run(rows::ofTwoChangesOfARecordOneIsRefusedUnlessItComesLater);
    TinyLists.run(rows::changesOfOtherRecordsOfAShardBothSucceed);
    TinyLists.run(rows::changesOfTwoShardsBothSucceed);
    TinyLists.run(rows::aChangeAndAnAppendBothSucceed);
    TinyLists.run(rows::aChangeAndARebalanceBothSucceed);
    TinyLists.run(rows::anExpiryAndASweepLeaveWhatAChangeNeeds);
    TinyLists.run(rows::withoutAComparisonOfShardsAChangeIsLost);
  }

  @Test
  void rebalancesBothSucceedOrOneIsRefused() throws Exception {
    RebalanceRaceTest rebalances = new RebalanceRaceTest();
    TinyLists.run(rebalances::ofTwoRebalancesOfTheSameShardsOneWinsAndTheOtherReportsAConflict);
    TinyLists.run(rebalances::aRebalanceAndAnAppendBothSucceed);
    TinyLists.run(rebalances::ofARebalanceAndAnOverwriteTheFirstToCommitWins);
    TinyLists.run(rebalances::aRebalanceKilledAtAnyCallLeavesTheVersionBeforeOrTheNextWhole);
    TinyLists.run(rebalances::aScanGoesOnUntilItsVersionIsExpiredAndSwept);
  }

  @Test
  void aTagKeepsItsVersionBesideAnExpiryAndASweep() throws Exception {
    ExpireRaceTest expiries = new ExpireRaceTest();
    TinyLists.run(expiries::soItDoesWhileTheFilesOfExpiredVersionsAreSwept);
    TinyLists.run(expiries::twoWhoExpireAtOnceExpireEachVersionOnce);
    TinyLists.run(expiries::whoReadsATagWhileItIsRemovedAndSweptGetsItsRecordsOrIsTold);
    TinyLists.run(expiries::anExpiryKilledAtAnyCallLosesNoTag);
  }

  @Test
  void aSweepDeletesNothingThatIsNeeded() throws Exception {
    SweepRaceTest sweeps = new SweepRaceTest();
    TinyLists.run(sweeps::aWriteOfBeforeTheSweepKeepsItsFilesOrIsRefused);
    TinyLists.run(sweeps::aVersionWhoseTagIsExchangedForAnotherMeanwhileIsWhole);
    TinyLists.run(sweeps::aDamagedVersionThatIsMovedAsideMeanwhileKeepsItsFiles);
    TinyLists.run(sweeps::aWriteThatDoesNotLookAtWhatWasSweptLosesItsFiles);
  }

  @Test
  void whoIsKilledOrLosesPowerHasChangedAllOrNothing() throws Exception {
    RowPowerLossTest losses = new RowPowerLossTest();
    TinyLists.run(losses::whoIsKilledHasChangedAllOrNothing);
    TinyLists.run(losses::aChangeThatFollowsItsRecordsOverARebalanceIsAllOrNothing);
    TinyLists.run(losses::aStorageThatRefusesACallHasChangedAllOrNothing);
    TinyLists.run(losses::withoutForcesAnAcknowledgedChangeIsLost);
  }
}
