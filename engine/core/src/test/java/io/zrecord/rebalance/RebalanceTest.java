package io.zrecord.rebalance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.inspect.DatasetInspection;
import io.zrecord.inspect.DatasetUsage;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.verify.DatasetCheck;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rebalancing a table: what is rewritten, and that no index ever names another record. */
class RebalanceTest {
  private static final long MIB = 1 << 20;
  private static final RebalanceOptions JOIN_ALL =
      RebalanceOptions.defaults().withShardBytes(MIB, 4 * MIB);

  @TempDir(factory = DirectoryInMemory.class)
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
  void smallShardsAreJoinedAndEveryVersionReadsAsBefore() {
    List<Integer> expected = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      TableData.append(path, expected, 10 + i, i);
    }
    RebalanceResult result = TableRebalance.of(plan(JOIN_ALL)).threads(2).run();
    assertThat(result.failures()).isEmpty();
    assertThat(result.records()).isEqualTo(expected.size());
    assertThat(result.before().shards()).isEqualTo(20);
    assertThat(result.after().shards()).isEqualTo(1);
    assertThat(result.after().valueBytes()).isEqualTo(result.before().valueBytes());
    assertThat(result.after().utilization()).isBetween(result.before().utilization(), 1.0);
    TableSnapshot newest = table.latest();
    assertThat(newest.operation()).isEqualTo("rebalance");
    assertThat(newest.properties()).containsEntry("rewrittenRecords", "" + expected.size());
    TableData.check(newest, expected);
    int length = 0;
    for (int version = 0; version < 20; version++) {
      length += 10 + version;
      TableData.check(table.version(version), expected.subList(0, length));
    }
    assertThat(plan(JOIN_ALL).groups()).isEmpty();
  }

  @Test
  void largeShardsStayAndASmallOneAloneIsNotWorthIt() {
    List<Integer> expected = new ArrayList<>();
    TableData.append(path, expected, 5_000, 1);
    TableData.append(path, expected, 10, 2);
    TableData.append(path, expected, 5_000, 3);
    long small = table.latest().shards().get(1).chunkBytes();
    long large = table.latest().shards().get(0).chunkBytes();
    RebalanceOptions options =
        RebalanceOptions.defaults().withShardBytes((small + large) / 2, 4 * MIB);
    assertThat(plan(options).groups()).isEmpty();
    TableData.append(path, expected, 10, 4);
    TableData.append(path, expected, 10, 5);
    List<RebalanceGroup> groups = plan(options).groups();
    assertThat(groups).hasSize(1);
    assertThat(groups.get(0).shards()).hasSize(2);
    assertThat(groups.get(0).firstIndex()).isEqualTo(10_010);
    assertThat(groups.get(0).reasons()).containsExactly(RebalanceGroup.Reason.SMALL);
  }

  @Test
  void anotherCompressionRewritesWhatHasNotGotIt() {
    List<Integer> expected = new ArrayList<>();
    TableData.append(path, expected, 500, 1);
    TableData.append(path, expected, 500, 2);
    RebalanceOptions options = RebalanceOptions.defaults()
        .withShardBytes(0, 4 * MIB)
        .withCompression(Map.of("text", Compression.of(Codec.ZSTD)));
    assertThat(plan(options).groups().get(0).reasons())
        .containsExactly(RebalanceGroup.Reason.COMPRESSION);
    TableRebalance.of(plan(options)).run();
    assertThat(table.latest().schema().fields().get(1).compression().codec()).isEqualTo(Codec.ZSTD);
    TableData.check(table.latest(), expected);
    assertThat(plan(options).groups()).isEmpty();
    assertThatThrownBy(
            () -> plan(options.withCompression(Map.of("nope", Compression.of(Codec.LZ4)))))
        .hasMessageContaining("nope");
  }

  @Test
  void anotherLevelOfTheSameCodecIsAReasonToo() {
    List<Integer> expected = new ArrayList<>();
    TableData.append(path, expected, 500, 1);
    RebalanceOptions options = RebalanceOptions.defaults().withShardBytes(0, 4 * MIB);
    for (String compression : List.of("zstd:3", "zstd:9", "zstd:1")) {
      RebalanceOptions wanted =
          options.withCompression(Map.of("text", Compression.parse(compression)));
      assertThat(plan(wanted).groups()).as(compression).hasSize(1);
      assertThat(plan(wanted).groups().get(0).reasons())
          .containsExactly(RebalanceGroup.Reason.COMPRESSION);
      TableRebalance.of(plan(wanted)).run();
      assertThat(table.latest().schema().fields().get(1).compression()).hasToString(compression);
      assertThat(plan(wanted).groups()).as(compression).isEmpty();
      TableData.check(table.latest(), expected);
    }
  }

  @Test
  void noSmallRestIsCutOffAGroup() {
    List<Integer> expected = new ArrayList<>();
    // Two shards that are a group of some 1.3 MiB, and one of as much.
    TableData.append(path, expected, 13_000, 1);
    TableData.append(path, expected, 13_000, 2);
    TableData.append(path, expected, 26_000, 3);
    RebalanceOptions options = RebalanceOptions.defaults()
        .withShardBytes(MIB, MIB)
        // So that what is written so far is known in steps.
        .withWrite(WriteOptions.defaults().withStripeBytes(1 << 16))
        .withCompression(Map.of("pixels", Compression.of(Codec.LZ4)));
    assertThat(plan(options).groups())
        .hasSize(2)
        .allMatch(group -> group.valueBytes() > MIB * 9 / 8 && group.valueBytes() < MIB * 3 / 2);
    assertThat(TableRebalance.of(plan(options)).run().failures()).isEmpty();
    assertThat(table.latest().shards()).hasSize(2);
    assertThat(plan(options).groups()).isEmpty();
    TableData.check(table.latest(), expected);
  }

  @Test
  void aRunIsCutShortAndTheNextGoesOn() {
    List<Integer> expected = new ArrayList<>();
    for (int i = 0; i < 12; i++) {
      TableData.append(path, expected, 2_000, i);
    }
    RebalanceOptions options =
        RebalanceOptions.defaults().withShardBytes(MIB, MIB).withMaxRunBytes(1);
    int runs = 0;
    while (!plan(options).groups().isEmpty() && runs < 20) {
      assertThat(plan(options).groups()).hasSize(1);
      TableRebalance.of(plan(options)).run();
      TableData.check(table.latest(), expected);
      runs++;
    }
    assertThat(runs).isBetween(1, 11);
    assertThat(plan(options).isCutShort()).isFalse();
  }

  @Test
  void onlyShardsWithinARangeOfIndicesAreRewritten() {
    List<Integer> expected = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      TableData.append(path, expected, 100, i);
    }
    List<RebalanceGroup> groups = plan(JOIN_ALL.withIndices(150, 500)).groups();
    assertThat(groups).hasSize(1);
    assertThat(groups.get(0).firstIndex()).isEqualTo(200);
    assertThat(groups.get(0).recordCount()).isEqualTo(300);
  }

  @Test
  void appendsAndOtherGroupsCommuteAndTheSameGroupConflicts() {
    List<Integer> expected = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      TableData.append(path, expected, 100, i);
    }
    RebalancePlan first = plan(JOIN_ALL.withIndices(0, 200));
    RebalancePlan second = plan(JOIN_ALL.withIndices(200, 400));
    RebalancePlan all = plan(JOIN_ALL);
    TableData.append(path, expected, 50, 9);
    assertThat(TableRebalance.of(second).run().failures()).isEmpty();
    assertThat(TableRebalance.of(first).run().failures()).isEmpty();
    TableData.check(table.latest(), expected);
    RebalanceResult late = TableRebalance.of(all).run();
    assertThat(late.failures()).hasSize(1);
    assertThat(late.failures().get(0).reason()).contains("plan again");
    TableData.check(table.latest(), expected);
    assertThat(TableData.shardDirectories(path)).isEqualTo(TableData.namedShards(table));
  }

  @Test
  void anOverwriteAndAnAppendPlannedBeforeARebalance() {
    List<Integer> expected = new ArrayList<>();
    TableData.append(path, expected, 100, 1);
    TableData.append(path, expected, 100, 2);
    TableData.append(path, expected, 100, 3);
    RebalancePlan plan = plan(JOIN_ALL);
    try (TableData.Appending append = TableData.beginAppend(path, 30, 7)) {
      TableRebalance.of(plan).run();
      append.commit(expected);
    }
    TableData.check(table.latest(), expected);

    RebalancePlan late = plan(JOIN_ALL);
    expected.clear();
    TableData.overwrite(path, expected, 20, 4);
    RebalanceResult result = TableRebalance.of(late).run();
    assertThat(result.failures()).hasSize(1);
    TableData.check(table.latest(), expected);
  }

  @Test
  void shardsInListsAreReplacedAndTheOrderStays() {
    List<Integer> expected = new ArrayList<>();
    TableData.appendShards(path, expected, 2_500, 2);
    TableData.appendShards(path, expected, 100, 3);
    assertThat(plan(JOIN_ALL).groups())
        .extracting(group -> group.shards().size())
        .containsExactly(RebalancePlan.MAX_GROUP_SHARDS, 2_600 - RebalancePlan.MAX_GROUP_SHARDS);
    for (int round = 0; round < 3; round++) {
      long length = table.latest().length();
      RebalancePlan plan =
          plan(JOIN_ALL.withIndices(round * 900L, Math.min(length, round * 900L + 1_700)));
      assertThat(TableRebalance.of(plan).run().failures()).isEmpty();
      TableData.check(table.latest(), expected);
    }
    assertThat(TableRebalance.of(plan(JOIN_ALL)).run().failures()).isEmpty();
    TableData.check(table.latest(), expected);
    assertThat(table.latest().shards()).hasSizeLessThan(5);
  }

  @Test
  void damagedValuesKeepTheirGroupAsItIs() throws Exception {
    List<Integer> expected = new ArrayList<>();
    TableData.append(path, expected, 100, 1);
    TableData.append(path, expected, 100, 2);
    ShardSummary shard = table.latest().shards().get(1);
    TableData.damage(path.resolve(shard.directory()));
    TableSnapshot before = table.latest();
    RebalanceResult result = TableRebalance.of(plan(JOIN_ALL)).run();
    assertThat(result.failures()).hasSize(1);
    assertThat(result.failures().get(0).reason()).contains("checksum");
    assertThat(table.latest().version()).isEqualTo(before.version());
    assertThat(TableData.shardDirectories(path)).isEqualTo(TableData.namedShards(table));
  }

  @Test
  void readersOfTheVersionBeforeGoOn() {
    List<Integer> expected = new ArrayList<>();
    TableData.append(path, expected, 100, 1);
    TableData.append(path, expected, 100, 2);
    try (RecordDataset pinned = RecordDataset.open(path.toString())) {
      TableRebalance.of(plan(JOIN_ALL)).run();
      TableData.check(pinned, expected);
    }
  }

  @Test
  void replacementsThatDoNotFitAreRefused() {
    List<Integer> expected = new ArrayList<>();
    TableData.append(path, expected, 100, 1);
    TableData.append(path, expected, 100, 2);
    RebalancePlan plan = plan(JOIN_ALL);
    RebalanceGroup group = plan.groups().get(0);
    RebalanceCommit commit = new RebalanceCommit(plan, Map.of());
    assertThatThrownBy(() -> commit.commit(group, List.of(group.shards().get(0))))
        .hasMessageContaining("as many records");
    RebalanceGroup swapped = new RebalanceGroup(
        List.of(group.shards().get(1), group.shards().get(0)), 0, group.reasons());
    assertThatThrownBy(() -> commit.commit(swapped, group.shards()))
        .isInstanceOf(CommitConflictException.class);
    TableData.check(table.latest(), expected);
  }

  @Test
  void listsThatAreNotTouchedAreTakenOver() {
    List<Integer> expected = new ArrayList<>();
    TableData.appendShards(path, expected, 3_010, 2);
    java.util.Set<String> before = TableData.lists(path);
    assertThat(before).hasSize(3);
    RebalancePlan plan = plan(JOIN_ALL.withIndices(4_500, expected.size()));
    assertThat(plan.groups()).hasSize(1);
    assertThat(TableRebalance.of(plan).run().failures()).isEmpty();
    assertThat(TableData.lists(path)).isEqualTo(before);
    TableData.check(table.latest(), expected);
  }

  @Test
  void aRebalanceGoesOnWhenVersionsSinceItsPlanWereExpired() throws Exception {
    List<Integer> expected = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      TableData.append(path, expected, 20, i);
    }
    RebalancePlan plan = plan(JOIN_ALL);
    TableData.append(path, expected, 20, 8);
    TableData.append(path, expected, 20, 9);
    java.nio.file.Files.delete(path.resolve("manifest/00000000000000000006.json"));
    assertThat(TableRebalance.of(plan).run().failures()).isEmpty();
    TableData.check(table.latest(), expected);
  }

  @Test
  void anotherRebalanceKeepsACompressionThatItWasNotAskedFor() {
    List<Integer> expected = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      TableData.append(path, expected, 20, i);
    }
    RebalancePlan late = plan(JOIN_ALL.withIndices(40, 80));
    TableRebalance.of(plan(JOIN_ALL
            .withIndices(0, 40)
            .withCompression(Map.of("text", Compression.of(Codec.ZSTD)))))
        .run();
    TableRebalance.of(late).run();
    assertThat(table.latest().schema().fields().get(1).compression().codec()).isEqualTo(Codec.ZSTD);
    TableData.check(table.latest(), expected);
  }

  @Test
  void allShardsGetAnotherAlignmentAndWhatItLeavesEmptyIsNotDead() {
    List<Integer> expected = new ArrayList<>();
    TableData.append(path, expected, 3_000, 1);
    TableData.append(path, expected, 2_000, 2);
    RebalanceOptions packed =
        RebalanceOptions.defaults().withShardBytes(0, 4 * MIB).withMinUtilization(1);
    RebalanceOptions aligned = packed.withWrite(WriteOptions.defaults().withAlignBytes(64));
    assertThat(plan(aligned).groups()).isEmpty();
    RebalancePlan all = plan(aligned.withAllShards());
    assertThat(all.groups()).hasSize(1);
    assertThat(all.groups().get(0).reasons()).containsExactly(RebalanceGroup.Reason.ALL);
    RebalanceResult result = TableRebalance.of(all).run();
    TableData.check(table.latest(), expected);
    // By the manifest alone it could be sparse.
    assertThat(result.after().chunkBytes())
        .isGreaterThan(result.after().valueBytes() + 7 * 5_000 + 64);
    DatasetUsage usage = DatasetInspection.of(path.toString()).run(shard -> {});
    assertThat(usage.space().deadBytes()).isZero();
    assertThat(plan(aligned).groups()).isEmpty();
    assertThat(plan(packed).groups()).isEmpty();
    assertThat(DatasetCheck.of(path.toString()).run(finding -> {}).isSound()).isTrue();

    assertThat(plan(packed.withAllShards().withIndices(1, 5_000)).groups()).isEmpty();
    RebalanceResult back = TableRebalance.of(plan(packed.withAllShards())).run();
    assertThat(back.after().chunkBytes()).isLessThanOrEqualTo(result.before().chunkBytes());
    TableData.check(table.latest(), expected);
  }

  @Test
  void valuesThatWereReplacedAreReasonEnough() {
    RecordSchema schema =
        RecordSchema.builder().field("image", ElementType.BYTES).build();
    RecordTable table = RecordTable.at(LocalStorage.at(path));
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), schema, WriteOptions.defaults())) {
      RecordAppender appender = writer.newAppender();
      for (int i = 0; i < 8; i++) {
        appender.set("image", new byte[64 << 10]).endRecord();
      }
      writer.commit();
    }
    RebalanceOptions options = RebalanceOptions.defaults().withShardBytes(0, 4 * MIB);
    assertThat(plan(options).groups()).isEmpty();
    RowChange change = RowChange.of(table.latest());
    for (int i = 0; i < 6; i++) {
      change.update(i, "image", new byte[64 << 10]);
    }
    change.commit();
    assertThat(plan(options).groups().get(0).reasons())
        .containsExactly(RebalanceGroup.Reason.SPARSE);
    TableRebalance.of(plan(options)).run();
    assertThat(plan(options).groups()).isEmpty();
  }

  @Test
  void aPatchWithManyChunksIsReasonEnough() {
    RecordTable table = RecordTable.at(LocalStorage.at(path));
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(
        path.toString(),
        RecordSchema.builder().field("label", ElementType.I64).build(),
        WriteOptions.defaults())) {
      RecordAppender appender = writer.newAppender();
      for (int i = 0; i < 1000; i++) {
        appender.set("label", i).endRecord();
      }
      writer.commit();
    }
    RebalanceOptions options =
        RebalanceOptions.defaults().withShardBytes(0, 4 * MIB).withMinUtilization(0);
    for (int chunk = 1; chunk <= 32; chunk++) {
      assertThat(plan(options).groups()).as("%d chunks", chunk - 1).isEmpty();
      RowChange change = RowChange.of(table.latest());
      change.update(chunk, "label", -chunk);
      change.commit();
    }
    assertThat(plan(options).groups()).hasSize(1);
    assertThat(plan(options).groups().get(0).reasons())
        .containsExactly(RebalanceGroup.Reason.PATCHED);
    TableRebalance.of(plan(options)).run();
    assertThat(plan(options).groups()).isEmpty();
  }

  @Test
  void optionsSayTheirRanges() {
    RebalanceOptions options = RebalanceOptions.defaults();
    assertThatThrownBy(() -> options.withMinUtilization(1.1)).hasMessageContaining("0 to 1");
    assertThatThrownBy(() -> options.withShardBytes(2 * MIB, MIB))
        .hasMessageContaining("not below");
    assertThatThrownBy(() -> options.withIndices(5, 4)).hasMessageContaining("fromIndex 5");
    assertThatThrownBy(() -> options.withMaxRunBytes(0)).hasMessageContaining("1 or more");
    assertThatThrownBy(() -> options.withAllShards().withMaxRunBytes(7))
        .hasMessageContaining("maxRunBytes is 7")
        .hasMessageContaining("a range of indices");
    assertThatThrownBy(() -> options.withMaxRunBytes(7).withAllShards())
        .hasMessageContaining("maxRunBytes is 7");
  }
}
