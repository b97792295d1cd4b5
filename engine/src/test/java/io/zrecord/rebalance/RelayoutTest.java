package io.zrecord.rebalance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.rebalance.order.Direction;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.rebalance.order.SortedArrangement;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.IndexMap;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Writing a table in another order: the place of each record, what the map says, and who loses a
 * race.
 */
class RelayoutTest {
  private static final long MIB = 1 << 20;
  private static final WriteOptions WRITE =
      WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);

  @TempDir
  Path directory;

  private Path path;
  private RecordTable table;
  private final List<Integer> before = new ArrayList<>();

  @BeforeEach
  void write() {
    path = directory.resolve("table");
    table = RecordTable.at(LocalStorage.at(path));
    TableData.append(path, before, 7_000, 3);
    TableData.append(path, before, 1, 9);
    TableData.append(path, before, 3_000, 1);
  }

  private TableRelayout relayout(RecordOrder order) {
    return TableRelayout.of(table.latest(), order).layout(WRITE, MIB).threads(2);
  }

  private List<Integer> in(Sampler order) {
    List<Integer> numbers = new ArrayList<>();
    for (int p = 0; p < before.size(); p++) {
      numbers.add(before.get((int) order.index(0, p)));
    }
    return numbers;
  }

  /** Checks that the map leads from each record of the version before to the same record now. */
  private void checkMap(TableSnapshot snapshot, List<Integer> after) {
    IndexMap map = snapshot.indexMap().orElseThrow();
    assertThat(map.length()).isEqualTo(before.size());
    long[] all = new long[before.size()];
    map.newIndices(0, all, 0, all.length);
    for (int old = 0; old < before.size(); old++) {
      assertThat(after.get((int) all[old])).isEqualTo(before.get(old));
    }
    assertThat(map.newIndex(7_000)).isEqualTo(all[7_000]);
    assertThatThrownBy(() -> map.newIndex(all.length))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }

  @Test
  void aShuffleIsThatOfTheSamplerAndTheMapLeadsToIt() {
    RelayoutResult result = relayout(RecordOrder.shuffle(42)).run();
    List<Integer> after = in(Samplers.shuffle(before.size(), 42));
    TableSnapshot newest = table.latest();
    assertThat(newest.version()).isEqualTo(3).isEqualTo(result.snapshot().version());
    assertThat(newest.operation()).isEqualTo("relayout");
    assertThat(newest.properties())
        .containsEntry("order", "shuffle, seed 42")
        .containsEntry("rewrittenRecords", "10001")
        .containsEntry("addedRecords", "0")
        .containsEntry("removedRecords", "0");
    TableData.check(newest, after);
    checkMap(newest, after);
    checkMap(result.snapshot(), after);
    TableData.check(table.version(2), before);
    assertThat(table.version(2).indexMap()).isEmpty();
    assertThat(result.records()).isEqualTo(10_001);
    assertThat(result.shardsBefore()).isEqualTo(3);
    assertThat(result.shardsAfter()).isEqualTo(newest.shards().size());
  }

  @Test
  void theSameSeedGivesTheSameOrderWhateverTheThreads() {
    relayout(RecordOrder.shuffle(7)).threads(1).run();
    List<Integer> once = in(Samplers.shuffle(before.size(), 7));
    TableData.check(table.latest(), once);
    before.clear();
    before.addAll(once);
    relayout(RecordOrder.shuffle(7)).threads(3).run();
    TableData.check(table.latest(), in(Samplers.shuffle(before.size(), 7)));
    checkMap(table.latest(), in(Samplers.shuffle(before.size(), 7)));
  }

  @Test
  void manyShardsAreWrittenInOrder() {
    TableData.append(path, before, 40_000, 5);
    RelayoutResult result = relayout(RecordOrder.shuffle(1)).run();
    assertThat(result.shardsAfter()).isGreaterThan(2);
    assertThat(table.latest().shards()).hasSize(result.shardsAfter());
    // One for each range, without small rests.
    List<Long> lengths =
        table.latest().shards().stream().map(ShardSummary::length).toList();
    assertThat(lengths.subList(0, lengths.size() - 1)).containsOnly(lengths.get(0));
    List<Integer> after = in(Samplers.shuffle(before.size(), 1));
    TableData.check(table.latest(), after);
    checkMap(table.latest(), after);
  }

  @Test
  void aFieldGivesItsOrderBothWays() {
    relayout(RecordOrder.by("number", Direction.ASCENDING)).run();
    List<Integer> rising = before.stream().sorted().toList();
    TableData.check(table.latest(), rising);
    checkMap(table.latest(), rising);
    before.clear();
    before.addAll(rising);
    relayout(RecordOrder.by("number", Direction.DESCENDING)).run();
    List<Integer> falling = before.stream().sorted(Comparator.reverseOrder()).toList();
    TableData.check(table.latest(), falling);
    checkMap(table.latest(), falling);
  }

  @Test
  void recordsWithoutAValueComeLastAsTheyWere() {
    relayout(RecordOrder.by("text", Direction.ASCENDING)).run();
    Comparator<Integer> byText =
        Comparator.comparing(number -> number % 5 == 0 ? "~" : "t".repeat(number % 90) + number);
    List<Integer> after = before.stream().sorted(byText).toList();
    assertThat(after.subList(9_000, after.size())).contains(900_000);
    TableData.check(table.latest(), after);
    checkMap(table.latest(), after);
  }

  @Test
  void whatWasCommittedMeanwhileIsAConflictAndNothingIsLeft() {
    TableRelayout late = relayout(RecordOrder.shuffle(1));
    TableData.append(path, before, 10, 6);
    Set<String> files = TableData.shardDirectories(path);
    assertThatThrownBy(late::run)
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("relayout")
        .hasMessageContaining("version 3 was committed since version 2");
    assertThat(TableData.shardDirectories(path)).isEqualTo(files);
    assertThat(table.latest().version()).isEqualTo(3);
    TableData.check(table.latest(), before);
  }

  @Test
  void aRunThatIsHopelessEndsBeforeItsNextRange() {
    TableData.append(path, before, 40_000, 5);
    Set<String> files = TableData.shardDirectories(path);
    AtomicLong written = new AtomicLong();
    TableRelayout late = relayout(RecordOrder.shuffle(1)).threads(1).onRecords(records -> {
      if (written.getAndSet(records) == 0) {
        TableData.append(path, before, 10, 6);
        files.addAll(TableData.namedShards(table));
      }
    });
    assertThatThrownBy(late::run)
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("version 4 was committed since version 3");
    // One of several ranges.
    assertThat(written.get()).isLessThan(before.size() / 2);
    assertThat(TableData.shardDirectories(path)).isEqualTo(files);
    TableData.check(table.latest(), before);
  }

  @Test
  void anotherRelayoutAndARebalanceAreConflictsBothWays() {
    TableRelayout first = relayout(RecordOrder.shuffle(1));
    TableRelayout second = relayout(RecordOrder.shuffle(2));
    RebalancePlan plan =
        RebalancePlan.of(table.latest(), RebalanceOptions.defaults().withShardBytes(MIB, 4 * MIB));
    first.run();
    assertThatThrownBy(second::run).isInstanceOf(CommitConflictException.class);
    assertThat(TableRebalance.of(plan).run().failures()).hasSize(1);
    List<Integer> after = in(Samplers.shuffle(before.size(), 1));
    TableData.check(table.latest(), after);

    TableRelayout third = relayout(RecordOrder.shuffle(3));
    TableData.append(path, after, 5, 8);
    RebalancePlan again =
        RebalancePlan.of(table.latest(), RebalanceOptions.defaults().withShardBytes(MIB, 4 * MIB));
    TableRebalance.of(again).run();
    assertThatThrownBy(third::run).isInstanceOf(CommitConflictException.class);
    TableData.check(table.latest(), after);
  }

  @Test
  void anAppendThatWasPlannedBeforeComesBehind() {
    try (TableData.Appending append = TableData.beginAppend(path, 30, 7)) {
      relayout(RecordOrder.shuffle(1)).run();
      List<Integer> after = in(Samplers.shuffle(before.size(), 1));
      append.commit(after);
      TableData.check(table.latest(), after);
      assertThat(table.latest().indexMap()).isEmpty();
      checkMap(table.version(3), after);
    }
  }

  @Test
  void damagedValuesAreReportedAndNothingChanges() throws Exception {
    ShardSummary shard = table.latest().shards().get(2);
    // What this process has found intact before is compared again in a run.
    TableData.check(table.latest(), before);
    TableData.damage(path.resolve(shard.directory()));
    Set<String> files = TableData.shardDirectories(path);
    assertThatThrownBy(() -> relayout(RecordOrder.shuffle(1)).run())
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("checksum");
    assertThat(table.latest().version()).isEqualTo(2);
    assertThat(TableData.shardDirectories(path)).isEqualTo(files);
  }

  @Test
  void readersOfTheVersionBeforeGoOn() {
    try (RecordDataset pinned = RecordDataset.open(path.toString())) {
      relayout(RecordOrder.shuffle(5)).run();
      TableData.check(pinned, before);
    }
  }

  @Test
  void theMapCanBeReadAsADataset() {
    relayout(RecordOrder.shuffle(5)).run();
    IndexMap map = table.latest().indexMap().orElseThrow();
    try (RecordDataset shard = RecordDataset.openShard(
        table.storage(), IndexMap.SCHEMA, map.shard(), RecordDataset.ReadOptions.defaults())) {
      assertThat(shard.length()).isEqualTo(before.size());
      assertThat(shard
              .gather(new long[] {17}, IndexMap.FIELD)
              .value(IndexMap.FIELD, 0)
              .getLong(0))
          .isEqualTo(map.newIndex(17));
    }
  }

  @Test
  void theMapIsNotADatasetOfItsOwn() {
    relayout(RecordOrder.shuffle(5)).run();
    IndexMap map = table.latest().indexMap().orElseThrow();
    assertThatThrownBy(() -> RecordDataset.open(path.resolve(map.directory()).toString()))
        .isInstanceOf(NotADatasetException.class)
        .hasMessageContaining("Open the table");
  }

  @Test
  void ordersThatAreNoneSayWhy() {
    assertThatThrownBy(
            () -> relayout(RecordOrder.by("nope", Direction.ASCENDING)).run())
        .hasMessageContaining("nope")
        .hasMessageContaining("number, text, pixels");
    assertThatThrownBy(
            () -> relayout(RecordOrder.by("pixels", Direction.ASCENDING)).run())
        .hasMessageContaining("tensors have no order");
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      assertThatThrownBy(() -> SortedArrangement.requireRoom(dataset, "number", 200_000))
          .hasMessageContaining("160016 bytes of heap, 16 each")
          .hasMessageContaining("-Xmx");
    }
    Path empty = directory.resolve("empty");
    TableData.overwrite(empty, new ArrayList<>(), 0, 1);
    TableSnapshot nothing = RecordTable.at(LocalStorage.at(empty)).latest();
    assertThatThrownBy(() -> TableRelayout.of(nothing, RecordOrder.shuffle(1)).run())
        .hasMessageContaining("no records");
    assertThatThrownBy(() -> relayout(RecordOrder.shuffle(1)).threads(0))
        .hasMessageContaining("1 to 1000");
  }

  /**
   * Any sequence of changes: each version stays what it was, and each map leads from the version
   * before.
   */
  @Test
  void anySequenceKeepsEveryVersion() {
    Random random = Budget.random();
    int steps = Math.max(4, Budget.of(12));
    Map<Long, List<Integer>> versions = new java.util.HashMap<>();
    versions.put(2L, List.copyOf(before));
    for (int step = 0; step < steps; step++) {
      // Each once, the relayout before others.
      switch (step < 3 ? 2 - step : random.nextInt(3)) {
        case 0 -> TableData.append(path, before, 1 + random.nextInt(40), 20 + step);
        case 1 -> {
          TableRebalance.of(RebalancePlan.of(
                  table.latest(), RebalanceOptions.defaults().withShardBytes(MIB, 4 * MIB)))
              .run();
        }
        default -> {
          List<Integer> after = in(Samplers.shuffle(before.size(), step));
          relayout(RecordOrder.shuffle(step)).run();
          checkMap(table.latest(), after);
          before.clear();
          before.addAll(after);
        }
      }
      versions.put(table.latest().version(), List.copyOf(before));
    }
    versions.forEach((version, values) -> TableData.check(table.version(version), values));
    assertThat(IntStream.range(0, (int) table.latest().version())
            .filter(version -> table.version(version).indexMap().isPresent())
            .count())
        .isPositive();
  }
}
