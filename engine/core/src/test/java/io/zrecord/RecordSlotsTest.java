package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import io.zrecord.testing.MemoryStorage;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** A record keeps its slot, whatever records of its shard are deleted. */
final class RecordSlotsTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("slot", ElementType.I64).build();
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);

  private final Random random = Budget.random();
  private final Storage storage = new MemoryStorage();
  private final RecordTable table = RecordTable.at(storage);

  /** The slots of the records in the order of their indices. */
  private final List<Long> slots = new ArrayList<>();

  private void append(int records) {
    try (RecordDatasetWriter writer = RecordDatasetWriter.append(storage, SCHEMA, OPTIONS)) {
      RecordAppender appender = writer.newAppender();
      for (long slot = 0; slot < records; slot++) {
        appender.set("slot", slot).endRecord();
        slots.add(slot);
      }
      writer.commit();
    }
  }

  private void delete(int records) {
    RowChange change = RowChange.of(table.latest());
    List<Integer> gone = random
        .ints(0, slots.size())
        .distinct()
        .limit(records)
        .boxed()
        .sorted((a, b) -> b - a)
        .toList();
    for (int index : gone) {
      change.delete(index);
      slots.remove(index);
    }
    change.commit();
  }

  private RecordDataset open(TableSnapshot version) {
    return RecordDataset.open(version, RecordDataset.ReadOptions.defaults());
  }

  private void check() {
    try (RecordDataset dataset = open(table.latest())) {
      RecordSlots found = dataset.slots();
      assertThat(dataset.length()).isEqualTo(slots.size());
      for (int i = 0; i < slots.size(); i++) {
        assertThat(found.slotOf(i)).isEqualTo(slots.get(i));
      }
      for (int i = 0; i < slots.size(); i++) {
        int index = random.nextInt(slots.size());
        assertThat(found.slotOf(index)).isEqualTo(slots.get(index));
      }
    }
  }

  @Test
  void deletionsChangeNoSlotOfOtherRecords() {
    append(500);
    append(1);
    append(70_000);
    append(300);
    check();
    TableSnapshot before = table.latest();
    List<Long> slotsBefore = List.copyOf(slots);
    for (int round = 0; round < 4; round++) {
      delete(1 + random.nextInt(400));
      check();
    }
    try (RecordDataset dataset = open(before)) {
      RecordSlots found = dataset.slots();
      assertThat(found.slotOf(501)).isEqualTo(slotsBefore.get(501));
    }
    TableRebalance.of(
            RebalancePlan.of(table.latest(), RebalanceOptions.defaults().withAllShards()))
        .run();
    slots.replaceAll(slot -> 0L);
    TableSnapshot rebalanced = table.latest();
    for (int i = 0; i < slots.size(); i++) {
      slots.set(i, i - rebalanced.firstIndex(rebalanced.shardOf(i)));
    }
    check();
  }

  @Test
  void anIndexThatIsNotThereIsRefusedAndSlotsOutliveTheDataset() {
    append(3);
    RecordSlots found;
    RecordDataset closed;
    try (RecordDataset dataset = open(table.latest())) {
      closed = dataset;
      found = dataset.slots();
      for (long index : List.of(-1L, 3L, Long.MAX_VALUE)) {
        assertThatThrownBy(() -> found.slotOf(index)).isInstanceOf(IndexOutOfBoundsException.class);
      }
    }
    assertThatThrownBy(closed::slots).isInstanceOf(IllegalStateException.class);
    assertThat(found.slotOf(2)).isEqualTo(2);
  }
}
