package io.zrecord.table;

import io.zrecord.internal.table.TinyLists;
import io.zrecord.testing.Budget;
import java.util.Set;
import org.junit.jupiter.api.Test;

/**
 * The proofs of tables that other tests have for shards in manifests, in part, for shards in lists,
 * in lists of lists, and in the place of others.
 */
final class TinyListsTest {
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
}
