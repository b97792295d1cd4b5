package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.rebalance.RebalanceGroup;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rebalancing a table that was made of a store. */
class RebalanceOfStoreTablesTest {
  private static final long MIB = 1 << 20;

  @TempDir
  Path directory;

  private Path path;
  private RecordTable table;

  @BeforeEach
  void locate() {
    path = directory.resolve("table");
    table = RecordTable.at(LocalStorage.at(path));
  }

  private RebalancePlan plan(RebalanceOptions options) {
    return RebalancePlan.of(table.latest(), options);
  }

  @Test
  void deadBytesOfAShardThatWasAStoreAreReasonEnough() {
    Path store = directory.resolve("store");
    RecordSchema schema = RecordSchema.builder().field("text", ElementType.UTF8).build();
    try (RecordStore open = RecordStore.create(store, schema, StoreOptions.defaults())) {
      for (int i = 0; i < 100; i++) {
        open.append(open.newValues().set("text", "text ".repeat(20) + i));
      }
      for (int i = 0; i < 50; i++) {
        open.delete(0);
      }
      open.commit();
    }
    StoreSnapshot.create(store, path);
    RebalanceOptions options = RebalanceOptions.defaults().withShardBytes(0, 4 * MIB);
    assertThat(plan(options).groups().get(0).reasons())
        .containsExactly(RebalanceGroup.Reason.SPARSE);
    assertThat(TableRebalance.of(plan(options)).run().records()).isEqualTo(50);
    assertThat(plan(options).groups()).isEmpty();
  }
}
