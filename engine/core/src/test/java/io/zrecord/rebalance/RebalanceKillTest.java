package io.zrecord.rebalance;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.findings.Finding;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.CareMode;
import io.zrecord.table.RecordTable;
import io.zrecord.table.SweepOptions;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.JavaProcess;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes that rebalance a table are killed (SIGKILL) at random moments while this one appends to
 * it: every version that there is is whole and has the records that it should have, and the next
 * rebalance and a sweep leave nothing over. The first process waits for its kill before it commits,
 * so that files are left, however fast the machine is.
 */
class RebalanceKillTest {
  /** At least one of each kind: in the first rebalance or a later one, while writing or not. */
  private static final int KILLS = Math.max(6, Budget.of(24));

  private static final long SEED = Budget.seed();
  private static final int MOST_APPENDS = 25;
  private static final long MIB = 1 << 20;
  private static final SweepOptions SWEEP = SweepOptions.defaults().withMode(CareMode.DELETE);

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  private static RebalancePlan plan(RecordTable table, Random random) {
    TableSnapshot newest = table.latest();
    // Not always all of it, so that groups are of several sizes.
    long from = random.nextInt(3) == 0 ? random.nextLong(newest.length()) : 0;
    return RebalancePlan.of(
        newest,
        RebalanceOptions.defaults().withShardBytes(MIB, MIB).withIndices(from, Long.MAX_VALUE));
  }

  @Test
  void aTableIsWholeAfterEveryKill() throws Exception {
    Random random = Budget.random();
    int rebalanced = 0;
    int left = 0;
    for (int kill = 0; kill < KILLS; kill++) {
      Path path = directory.resolve("table-" + kill);
      RecordTable table = RecordTable.at(LocalStorage.at(path));
      List<Integer> expected = new ArrayList<>();
      for (int version = 0; version < 4; version++) {
        TableData.appendShards(path, expected, 4, version);
      }
      // In the first rebalance, or in one of those that follow what was appended meanwhile.
      Moment moment =
          kill == 0 ? Moment.BEFORE_COMMIT : kill % 3 == 0 ? Moment.WHILE_WRITING : Moment.ANY;
      appendUntilKilled(path, expected, kill % 2, random.nextInt(100), moment);

      List<Finding> findings = new ArrayList<>();
      DatasetCheck.of(path.toString()).run(findings::add);
      assertThat(findings)
          .as("seed %d, kill %d", SEED, kill)
          .noneMatch(finding -> finding.kind().isDamage());
      int orphans = TableData.shardDirectories(path).size();
      rebalanced += requireVersions(table, expected);
      orphans -= TableData.namedShards(table).size();
      left += orphans > 0 ? 1 : 0;

      RebalanceResult next = TableRebalance.of(RebalancePlan.of(
              table.latest(), RebalanceOptions.defaults().withShardBytes(MIB, MIB)))
          .run();
      assertThat(next.failures()).isEmpty();
      TableData.letTimePass(path);
      table.sweep(SWEEP, orphan -> {});
      assertThat(TableData.shardDirectories(path)).isEqualTo(TableData.namedShards(table));
      TableData.check(table.latest(), expected);
    }
    System.out.printf(
        "%d kills, seed %d: %d rebalances were committed, %d times files were left%n",
        KILLS, SEED, rebalanced, left);
    assertThat(rebalanced).isGreaterThanOrEqualTo(KILLS / 2);
    assertThat(left).isPositive();
  }

  /** Requires the first records in each version; returns how many versions come from rebalances. */
  private static int requireVersions(RecordTable table, List<Integer> expected) {
    int rebalanced = 0;
    for (long version : table.versions()) {
      TableSnapshot snapshot = table.version(version);
      rebalanced += snapshot.operation().equals("rebalance") ? 1 : 0;
      TableData.check(snapshot, expected.subList(0, (int) snapshot.length()));
    }
    assertThat(table.latest().length()).isEqualTo(expected.size());
    return rebalanced;
  }

  /** What a kill waits for, after some rebalances and a delay. */
  private enum Moment {
    ANY,
    /** The next shard that the process begins. */
    WHILE_WRITING,
    /** All shards of the first rebalance. */
    BEFORE_COMMIT
  }

  private static void appendUntilKilled(
      Path path, List<Integer> expected, int rebalances, int delayMillis, Moment moment)
      throws IOException, InterruptedException {
    Process process = JavaProcess.of(Rebalancer.class)
        .small()
        .start(path.toString(), Long.toString(SEED + delayMillis), moment.name());
    // It says when it begins, and each time that it did something.
    assertThat(process.getInputStream().read()).isEqualTo('b');
    int seed = 10;
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMillis);
    boolean isDue = rebalances == 0;
    while (!isDue || System.nanoTime() < end) {
      assertThat(process.isAlive()).as("it ends by the kill only").isTrue();
      if (seed < MOST_APPENDS) {
        TableData.append(path, expected, 1 + seed % 7, seed++);
      } else {
        Thread.onSpinWait();
      }
      if (!isDue && process.getInputStream().available() >= rebalances) {
        isDue = true;
        end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(delayMillis);
      }
    }
    if (moment == Moment.BEFORE_COMMIT) {
      assertThat(process.getInputStream().read()).isEqualTo(WaitingStorage.SAID);
    }
    if (moment == Moment.WHILE_WRITING) {
      int known = TableData.shardDirectories(path).size();
      TableData.append(path, expected, 1, seed);
      long latest = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
      while (TableData.shardDirectories(path).size() <= known + 1 && System.nanoTime() < latest) {
        Thread.onSpinWait();
      }
    }
    JavaProcess.kill(process);
    JavaProcess.requireKilled(process);
  }

  /** Rebalances again and again what others append. */
  static final class Rebalancer {
    private Rebalancer() {}

    public static void main(String[] arguments) {
      Path path = Path.of(arguments[0]);
      Random random = new Random(Long.parseLong(arguments[1]));
      // So that the kill does not come while classes are loaded.
      Path other = path.resolveSibling("other-" + path.getFileName());
      TableData.appendShards(other, new ArrayList<>(), 4, 1);
      TableRebalance.of(plan(RecordTable.at(LocalStorage.at(other)), random)).run();
      Storage storage = LocalStorage.at(path);
      RecordTable table = RecordTable.at(
          Moment.valueOf(arguments[2]) == Moment.BEFORE_COMMIT
              ? new WaitingStorage(storage)
              : storage);
      System.out.print('b');
      System.out.flush();
      while (true) {
        if (TableRebalance.of(plan(table, random)).run().groups() > 0) {
          System.out.print('r');
          System.out.flush();
        }
      }
    }
  }
}
