package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.TableChange.Isolation;
import io.zrecord.table.TableChange.Kind;
import io.zrecord.table.TableChange.Replacement;
import io.zrecord.testing.Budget;
import io.zrecord.testing.MemoryStorage;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Commits that replace all records of some partitions, and what may come between. */
final class PartitionReplacementTest {
  private Storage storage = new MemoryStorage();
  private RecordTable table = RecordTable.at(storage);

  private ShardSummary shard(String kind, long... numbers) {
    return PartitionedRecords.shard(storage, Durability.NONE, kind, numbers);
  }

  private TableSnapshot create() {
    return table.commit(PartitionedRecords.create(
        List.of(shard("a", 1, 2), shard("b", 3), shard("a", 4, 5), shard("c", 6))));
  }

  private void append(String kind, long... numbers) {
    table.commit(TableChange.of(Kind.APPEND, PartitionedRecords.SCHEMA)
        .base(table.latest())
        .shards(List.of(shard(kind, numbers)))
        .build());
  }

  /** Replaces the partition {@code a} of a version by one record. */
  private TableChange replacing(TableSnapshot base, Isolation isolation, long number) {
    return TableChange.of(Kind.MERGE, PartitionedRecords.SCHEMA)
        .base(base)
        .replacements(base.shards().stream()
            .filter(shard -> "a".equals(shard.partition().get(0)))
            .map(shard -> new Replacement(List.of(shard), List.of()))
            .toList())
        .replacingPartitions(partition -> "a".equals(partition.get(0)))
        .shards(List.of(shard("a", number)))
        .isolation(isolation)
        .build();
  }

  private void delete(long number) {
    TableSnapshot latest = table.latest();
    RowChange change = RowChange.of(latest);
    change.delete(PartitionedRecords.numbers(latest).indexOf(number));
    change.commit();
  }

  private void move(String kind, long number) {
    PartitionedRecords.moving(table.latest(), Durability.NONE, kind, number).commit();
  }

  private void rebalance() {
    TableRebalance.of(RebalancePlan.of(table.latest(), RebalanceOptions.defaults()))
        .run();
  }

  private void commutes(Consumer<TableSnapshot> between, Long... expected) {
    TableSnapshot base = create();
    between.accept(base);
    TableSnapshot after = table.commit(replacing(base, Isolation.SNAPSHOT, 10));
    assertThat(PartitionedRecords.numbers(after)).containsExactly(expected);
    assertThat(after.operation()).isEqualTo("merge");
  }

  private void conflicts(Consumer<TableSnapshot> between, String word) {
    TableSnapshot base = create();
    between.accept(base);
    TableSnapshot before = table.latest();
    assertThatThrownBy(() -> table.commit(replacing(base, Isolation.SNAPSHOT, 10)))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining(word);
    assertThat(table.latest().version()).isEqualTo(before.version());
  }

  @Test
  void aPartitionIsReplacedInOneVersion() {
    commutes(base -> {}, 3L, 6L, 10L);
  }

  @Test
  void anAppendToAnotherPartitionMayComeBetween() {
    commutes(base -> append("b", 7, 8), 3L, 6L, 7L, 8L, 10L);
  }

  @Test
  void anAppendToThePartitionIsAConflict() {
    conflicts(base -> append("a", 7), "into the partition [a]");
  }

  @Test
  void anAppendToThePartitionAfterOneToAnotherIsAConflict() {
    conflicts(
        base -> {
          append("c", 7);
          append("a", 8);
          append("c", 9);
        },
        "into the partition [a]");
  }

  @Test
  void aRecordThatCameIntoThePartitionIsAConflict() {
    conflicts(base -> move("a", 3), "into the partition [a]");
  }

  @Test
  void aRecordThatWasDeletedFromThePartitionIsAConflict() {
    conflicts(base -> delete(4), "Cannot commit the merge");
  }

  @Test
  void aRecordThatLeftThePartitionIsAConflict() {
    conflicts(base -> move("b", 4), "Cannot commit the merge");
  }

  @Test
  void aChangeOfAnotherPartitionMayComeBetween() {
    commutes(base -> delete(3), 6L, 10L);
  }

  @Test
  void aRebalanceMayComeBetween() {
    commutes(base -> rebalance(), 3L, 6L, 10L);
  }

  @Test
  void aRebalanceOfAnyNumberOfRecordsMayComeBetween() {
    long[] many = LongStream.range(0, Carrier.MOST_SLOTS + 1L).toArray();
    TableSnapshot base = table.commit(PartitionedRecords.create(
        List.of(shard("a", many), shard("a", -1), shard("b", -2), shard("b", -3))));
    rebalance();
    assertThat(table.latest().shards()).hasSize(2);
    TableSnapshot after = table.commit(replacing(base, Isolation.SERIALIZABLE, 10));
    assertThat(PartitionedRecords.numbers(after)).containsExactly(-2L, -3L, 10L);
    assertThat(storage.list("shard").stream()
            .flatMap(shard -> storage.list("shard/" + shard.name()).stream()))
        .noneMatch(file -> file.name().endsWith(".patch"))
        .isNotEmpty();
  }

  /** Shards that are removed whole are followed through rebalances and other changes. */
  @Test
  void removedShardsAreFollowed() {
    Random random = Budget.random();
    for (int round = 0; round < Budget.of(100); round++) {
      followRemovedShards(random);
    }
  }

  private void followRemovedShards(Random random) {
    storage = new MemoryStorage();
    table = RecordTable.at(storage);
    List<ShardSummary> shards = new ArrayList<>();
    int next = 0;
    while (shards.size() < 12) {
      int count = 1 + random.nextInt(6);
      shards.add(shard(
          random.nextInt(3) == 0 ? "b" : "a",
          LongStream.range(next, next + count).toArray()));
      next += count;
    }
    table.commit(PartitionedRecords.create(shards));
    for (int i = 0; i < 5; i++) {
      deleteOneOf(random, PartitionedRecords.numbers(table.latest()));
    }
    TableSnapshot base = table.latest();
    boolean isWhole = random.nextBoolean();
    List<ShardSummary> removed = base.shards().stream()
        .filter(shard -> isWhole ? "a".equals(shard.partition().get(0)) : random.nextInt(3) > 0)
        .toList();
    List<Long> numbers = PartitionedRecords.numbers(base);
    List<Long> others = new ArrayList<>();
    for (int ordinal = 0; ordinal < base.shards().size(); ordinal++) {
      if (!removed.contains(base.shards().get(ordinal))) {
        int first = (int) base.firstIndex(ordinal);
        others.addAll(
            numbers.subList(first, first + (int) base.shards().get(ordinal).length()));
      }
    }
    List<Long> victims = new ArrayList<>(numbers);
    victims.removeAll(others);
    boolean isConflict = false;
    for (int i = 0; i < 4; i++) {
      int turn = random.nextInt(10);
      if (turn < 5) {
        rebalance();
      } else if (turn < 9) {
        others.remove(deleteOneOf(random, others));
      } else {
        isConflict |= victims.remove(deleteOneOf(random, victims));
      }
    }
    if (removed.isEmpty()) {
      return;
    }
    TableChange change = TableChange.of(Kind.MERGE, PartitionedRecords.SCHEMA)
        .base(base)
        .replacements(removed.stream()
            .map(shard -> new Replacement(List.of(shard), List.of()))
            .toList())
        .shards(List.of(shard("a", 1000)))
        .isolation(Isolation.SNAPSHOT)
        .build();
    if (isConflict) {
      assertThatThrownBy(() -> table.commit(change)).isInstanceOf(CommitConflictException.class);
    } else {
      others.add(1000L);
      TableSnapshot after = table.commit(change);
      assertThat(PartitionedRecords.numbers(after)).isEqualTo(others);
      assertThat(after.shards()).allMatch(shard -> shard.length() > 0);
    }
  }

  /** Deletes one of some records, and returns its number; null if there is none of them. */
  private @Nullable Object deleteOneOf(Random random, List<Long> numbers) {
    if (numbers.isEmpty()) {
      return null;
    }
    Long number = numbers.get(random.nextInt(numbers.size()));
    delete(number);
    return number;
  }

  @Test
  void withSerializableIsolationEveryChangeOfRecordsIsAConflict() {
    TableSnapshot base = create();
    append("b", 7);
    assertThatThrownBy(() -> table.commit(replacing(base, Isolation.SERIALIZABLE, 10)))
        .isInstanceOf(CommitConflictException.class);
  }

  @Test
  void onlyAMergeReplacesPartitions() {
    assertThatThrownBy(() -> TableChange.of(Kind.APPEND, PartitionedRecords.SCHEMA)
            .replacingPartitions(partition -> true)
            .build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a merge does");
  }
}
