package io.zrecord.internal.dataset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.DiskFullException;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.RebalanceResult;
import io.zrecord.rebalance.TableData;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.rebalance.TableRelayout;
import io.zrecord.rebalance.order.Direction;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What somebody is told whose file system has no room for a second copy. */
class RewriteSpaceTest {
  private static final long MIB = 1 << 20;

  @TempDir
  Path directory;

  @Test
  void tooLittleSpaceSaysHowMuchIsNeededAndWhere() {
    RewriteSpace.STORE.require("/data/online", 100, 100);
    assertThatThrownBy(() -> RewriteSpace.STORE.require("/data/online", 5000, 4000))
        .isInstanceOf(DiskFullException.class)
        .hasMessageContainingAll("/data/online", "5000", "only 4000", "at least 1000", "store");
  }

  /** Puts the storage on a disk with this much space. */
  private static Storage with(long usableBytes, Storage storage) {
    return (Storage) Proxy.newProxyInstance(
        Storage.class.getClassLoader(),
        new Class<?>[] {Storage.class},
        (proxy, method, arguments) -> {
          if (method.getName().equals("usableBytes")) {
            return usableBytes;
          }
          try {
            return method.invoke(storage, arguments);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        });
  }

  @Test
  void aTableIsRewrittenOnlyWhereItHasRoom() {
    List<Integer> expected = new ArrayList<>();
    for (int seed = 1; seed < 4; seed++) {
      TableData.append(directory, expected, 1000, seed);
    }
    Storage local = LocalStorage.at(directory);
    assertThat(local.usableBytes()).isBetween(1L, Long.MAX_VALUE - 1);
    RebalanceOptions join = RebalanceOptions.defaults().withShardBytes(MIB, MIB);
    long bytes = RebalancePlan.of(RecordTable.at(local).latest(), join).valueBytes();
    Set<String> shards = TableData.shardDirectories(directory);

    TableSnapshot full = RecordTable.at(with(bytes - 1, local)).latest();
    RebalanceResult result = TableRebalance.of(RebalancePlan.of(full, join)).run();
    assertThat(result.failures()).hasSize(1);
    assertThat(result.failures().get(0).reason())
        .contains("need " + bytes + " bytes", "only " + (bytes - 1), "at least 1 bytes", "sweep");
    long withMap = bytes + 3000 * Long.BYTES;
    TableSnapshot fuller = RecordTable.at(with(withMap - 1, local)).latest();
    assertThatThrownBy(() -> TableRelayout.of(fuller, RecordOrder.shuffle(1)).run())
        .isInstanceOf(DiskFullException.class)
        .hasMessageContainingAll("need " + withMap + " bytes", "it is as it was");
    assertThat(TableData.shardDirectories(directory)).isEqualTo(shards);

    TableSnapshot enough = RecordTable.at(with(withMap, local)).latest();
    TableRelayout.of(enough, RecordOrder.by("number", Direction.DESCENDING)).run();
    assertThat(TableRebalance.of(RebalancePlan.of(enough, join)).run().failures())
        .hasSize(1);
    assertThat(RecordTable.at(local).latest().operation()).isEqualTo("relayout");
  }
}
