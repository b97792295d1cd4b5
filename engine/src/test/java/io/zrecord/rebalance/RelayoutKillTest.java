package io.zrecord.rebalance;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.CareMode;
import io.zrecord.table.IndexMap;
import io.zrecord.table.RecordTable;
import io.zrecord.table.SweepOptions;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import io.zrecord.testing.JavaProcess;
import io.zrecord.verify.DatasetCheck;
import io.zrecord.verify.Finding;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes that shuffle a table again and again are killed (SIGKILL) at random moments: every
 * version is whole, in the order that it should have and with its map, and a sweep leaves nothing
 * over. The first process waits for its kill before it commits, so that files are left, however
 * fast the machine is.
 */
class RelayoutKillTest {
  private static final int KILLS = Math.max(2, Budget.of(8));
  private static final int RECORDS = 20_000;
  private static final SweepOptions SWEEP = SweepOptions.defaults().withMode(CareMode.DELETE);

  @TempDir
  Path directory;

  /** Shuffles into two shards; the seed is the version. */
  private static void shuffle(RecordTable table) {
    TableSnapshot newest = table.latest();
    TableRelayout.of(newest, RecordOrder.shuffle(newest.version()))
        .layout(
            WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE),
            1 << 20)
        .threads(2)
        .run();
  }

  @Test
  void aTableIsTheOldOrTheNewVersionAfterEveryKill() throws Exception {
    Random random = Budget.random();
    int shuffled = 0;
    int left = 0;
    for (int kill = 0; kill < KILLS; kill++) {
      Path path = directory.resolve("table-" + kill);
      RecordTable table = RecordTable.at(LocalStorage.at(path));
      List<Integer> expected = new ArrayList<>();
      TableData.append(path, expected, RECORDS, 3);
      // In the first relayout, or in a later one.
      shuffleUntilKilled(path, kill % 2, random.nextInt(200), kill == 0);

      List<Finding> findings = new ArrayList<>();
      DatasetCheck.of(path.toString()).allVersions().run(findings::add);
      assertThat(findings)
          .as("kill %d", kill)
          .noneMatch(finding -> finding.kind().isDamage());
      shuffled += requireVersions(table, expected);
      left += TableData.shardDirectories(path).equals(TableData.namedShards(table)) ? 0 : 1;

      TableData.letTimePass(path);
      table.sweep(SWEEP, orphan -> {});
      assertThat(TableData.shardDirectories(path)).isEqualTo(TableData.namedShards(table));
      requireVersions(table, expected);
    }
    System.out.printf(
        "%d kills: %d relayouts were committed, %d times files were left%n", KILLS, shuffled, left);
    assertThat(shuffled).isGreaterThanOrEqualTo(KILLS / 2);
    assertThat(left).isPositive();
  }

  /**
   * Requires that each version is a shuffle of the one before; returns how many versions there are.
   */
  private static int requireVersions(RecordTable table, List<Integer> first) {
    List<Integer> expected = first;
    TableData.check(table.version(0), expected);
    // The sweep made another version, with the same records.
    int newest = (int) table.latest().recordsVersion();
    for (int version = 1; version <= newest; version++) {
      Sampler order = Samplers.shuffle(RECORDS, version - 1);
      IndexMap map = table.version(version).indexMap().orElseThrow();
      List<Integer> next = new ArrayList<>();
      for (int position = 0; position < RECORDS; position++) {
        int old = (int) order.index(0, position);
        next.add(expected.get(old));
        if (position % 1000 == 0) {
          assertThat(map.newIndex(old)).isEqualTo(position);
        }
      }
      expected = next;
      TableData.check(table.version(version), expected);
    }
    return newest;
  }

  private static void shuffleUntilKilled(
      Path path, int relayouts, int delayMillis, boolean isWaiting)
      throws IOException, InterruptedException {
    Process process =
        JavaProcess.of(Shuffler.class).small().start(path.toString(), Boolean.toString(isWaiting));
    // It says when it begins, and each time that it did something.
    for (int said = 0; said <= relayouts; said++) {
      assertThat(process.getInputStream().read()).isEqualTo(said == 0 ? 'b' : 'r');
    }
    if (isWaiting) {
      assertThat(process.getInputStream().read()).isEqualTo(WaitingStorage.SAID);
    }
    JavaProcess.killAfter(process, TimeUnit.MILLISECONDS.toNanos(delayMillis));
    JavaProcess.requireKilled(process);
  }

  /** Shuffles again and again. */
  static final class Shuffler {
    private Shuffler() {}

    public static void main(String[] arguments) {
      Path path = Path.of(arguments[0]);
      // So that the kill does not come while classes are loaded.
      Path other = path.resolveSibling("other-" + path.getFileName());
      TableData.append(other, new ArrayList<>(), 10, 1);
      shuffle(RecordTable.at(LocalStorage.at(other)));
      Storage storage = LocalStorage.at(path);
      RecordTable table = RecordTable.at(
          Boolean.parseBoolean(arguments[1]) ? new WaitingStorage(storage) : storage);
      System.out.print('b');
      System.out.flush();
      while (true) {
        shuffle(table);
        System.out.print('r');
        System.out.flush();
      }
    }
  }
}
