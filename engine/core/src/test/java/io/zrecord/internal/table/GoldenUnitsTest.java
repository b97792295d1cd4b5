package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.format.BlockUnits;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.format.ValidityUnits;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.testing.ShardOnDisk;
import io.zrecord.verify.DatasetCheck;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** That the table has several units of each kind; GoldenValuesTest reads values of the table. */
final class GoldenUnitsTest {
  private final Storage storage = LocalStorage.at(GoldenUnits.DIRECTORY);
  private final List<ShardSummary> shards = RecordTable.at(storage).latest().shards();

  private ShardOnDisk tables(int shard) {
    return ShardOnDisk.of(GoldenUnits.DIRECTORY.resolve(shards.get(shard).directory()));
  }

  @Test
  void tablesHaveSeveralUnits() {
    ShardOnDisk blocks = tables(0);
    assertThat(blocks.field(1).validity().bytes())
        .isEqualTo(ValidityUnits.bytes(70_000))
        .isGreaterThan(ValidityUnits.bytes(ValidityUnits.UNIT_SLOTS));
    assertThat(blocks.field(1).statistics().bytes()).isEqualTo(2 * 56);
    assertThat(BlockUnits.blocks(blocks.field(4).offsets().bytes()))
        .isGreaterThan(BlockUnits.UNIT_BLOCKS);
    for (int shard = 0; shard < 2; shard++) {
      assertThat(tables(shard).field(2).offsets().bytes()).isGreaterThan(1_024 * 4);
    }
    assertThat(tables(1).field(2).alignment().most()).isEqualTo(64);
  }

  @Test
  void thePatchHasSeveralContainers() {
    PatchFile patch =
        Objects.requireNonNull(OpenShards.unshared(storage, shards.get(0)).patch());
    assertThat(Objects.requireNonNull(patch.deleted()).containerCount()).isEqualTo(2);
    for (int field : List.of(1, 3, 4)) {
      assertThat(patch.changed(patch.json().field(field)).slots().containerCount())
          .isEqualTo(2);
      assertThat(patch.json().field(field).count()).isGreaterThan(EntryUnits.UNIT_SLOTS);
    }
  }

  @Test
  void theTableIsSound() {
    assertThat(
            DatasetCheck.of(GoldenUnits.DIRECTORY.toString()).run(finding -> {}).isSound())
        .isTrue();
  }
}
