package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.table.ListLimits;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.TinyLists;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.RebalanceResult;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.Durability;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Random deletions and new values, against lists, through every way to read. */
final class RowModelTest {
  private static final WriteOptions SMALL = WriteOptions.defaults()
      .withDurability(Durability.NONE)
      .withStripeBytes(64 << 10)
      .withChunkBytes(100 << 10);

  private final long seed = Budget.seed();
  private final Random random = Budget.random();

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  private Storage storage;
  private RecordTable table;
  private SampleData spare;
  private List<byte[][]> records = new ArrayList<>();

  @BeforeEach
  void open() {
    storage = LocalStorage.at(directory);
    table = RecordTable.at(storage);
    spare = SampleData.random(SampleData.everything(), 400, 2_000, seed);
    append(150);
    append(1);
    append(90);
  }

  @ParameterizedTest
  @EnumSource(Verification.class)
  void whatIsDeletedAndChangedReadsAsInAList(Verification verification) throws IOException {
    Map<Long, SampleData> versions = new HashMap<>();
    int rounds = Math.max(6, Budget.of(12));
    for (int round = 0; round < rounds; round++) {
      if (round % 5 == 4) {
        append(1 + random.nextInt(40));
      } else {
        Map<Path, String> before = files();
        change(random.nextInt(3) == 0 ? 60 : 6);
        Map<Path, String> after = files();
        before.keySet().removeIf(path -> path.endsWith("latest"));
        assertThat(after).as("seed " + seed).containsAllEntriesOf(before);
      }
      if (random.nextBoolean()) {
        OpenShards.shared().clear();
      }
      TableSnapshot latest = table.latest();
      SampleData model = SampleData.of(spare.schema(), records);
      versions.put(latest.version(), model);
      requireEqual(latest, model, verification);
    }
    requireSound();
    rebalanceAll();
    TableSnapshot rebalanced = table.latest();
    assertThat(rebalanced.shards()).allMatch(shard -> shard.patch() == null);
    versions.put(rebalanced.version(), SampleData.of(spare.schema(), records));
    OpenShards.shared().clear();
    for (Map.Entry<Long, SampleData> version : versions.entrySet()) {
      requireEqual(table.version(version.getKey()), version.getValue(), verification);
    }
  }

  @Test
  void soItDoesInListsOfFewShardsOfWhichSomeAreReplaced() throws Exception {
    TinyLists.run(new ListLimits(2, 2, 1, 50), () -> {
      append(20);
      whatIsDeletedAndChangedReadsAsInAList(Verification.FIRST);
      for (int shard = 0; shard < 4; shard++) {
        append(20);
      }
      RowChange change = RowChange.of(table.latest());
      change.delete(0);
      change.commit();
      records.remove(0);
      requireEqual(table.latest(), SampleData.of(spare.schema(), records), Verification.FIRST);
    });
    ManifestLog log = new ManifestLog(storage);
    assertThat(table.versions())
        .anyMatch(version ->
            log.read(version).lists().stream().anyMatch(list -> !list.replaced().isEmpty()));
  }

  @Test
  void aShardWithoutRecordsIsGone() {
    RowChange change = RowChange.of(table.latest());
    for (int i = 0; i < 151; i++) {
      change.delete(i);
    }
    TableSnapshot after = change.commit();
    assertThat(after.shards()).hasSize(1);
    assertThat(after.shards().get(0).patch()).isNull();
    records = new ArrayList<>(records.subList(151, records.size()));
    requireEqual(after, SampleData.of(spare.schema(), records), Verification.FIRST);
  }

  @Test
  void aFieldWithTooManyPatchedChunksGetsTablesOfItsOwn() {
    UUID id = table.latest().shards().get(0).id();
    for (int i = 0; i <= PatchRef.MOST_CHUNKS; i++) {
      RowChange change = RowChange.of(table.latest());
      byte[] value = {(byte) i, 0, 0, 0, 0, 0, 0, 0};
      change.update(i, "never absent", value);
      records.get(i)[spare.schema().ordinal("never absent")] = value;
      assertThat(change.commit().shards().get(0).tables())
          .hasSize(i < PatchRef.MOST_CHUNKS ? 1 : 2);
    }
    ShardSummary first = table.latest().shards().get(0);
    assertThat(first.id()).isEqualTo(id);
    assertThat(first.tables().get(1).fieldIds()).hasSize(1);
    assertThat(first.patch()).isNull();
    assertThat(first.length()).isEqualTo(150);
    requireEqual(table.latest(), SampleData.of(spare.schema(), records), Verification.FIRST);
  }

  @Test
  void aChangeFollowsWhatLeavesItsShardsAlone() {
    TableSnapshot base = table.latest();
    RowChange first = RowChange.of(base);
    first.delete(0);
    RowChange second = RowChange.of(base);
    second.delete(151);
    second.update(200, "never absent", new byte[8]);
    append(5);
    table.tag(base.version(), "base");
    first.commit();
    TableSnapshot after = second.commit();
    assertThat(after.length()).isEqualTo(244);
    records.get(200)[spare.schema().ordinal("never absent")] = new byte[8];
    records.remove(151);
    records.remove(0);
    requireEqual(after, SampleData.of(spare.schema(), records), Verification.FIRST);
    requireSound();
  }

  @Test
  void aChangeConflictsWithWhatChangesItsRecords() throws IOException {
    TableSnapshot base = table.latest();
    List<RowChange> changes = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      RowChange change = RowChange.of(base);
      change.delete(3);
      change.update(4, "never absent", new byte[8]);
      changes.add(change);
    }
    RowChange winner = RowChange.of(base);
    winner.update(4, "never absent", new byte[8]);
    winner.commit();
    Set<Path> before = files().keySet();
    assertThatThrownBy(changes.get(0)::commit)
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("Cannot commit the update of");
    assertThat(files().keySet()).isEqualTo(before);
    rebalanceAll();
    before = files().keySet();
    assertThatThrownBy(changes.get(1)::commit).isInstanceOf(CommitConflictException.class);
    assertThat(files().keySet()).isEqualTo(before);
  }

  @Test
  void aRebalanceConflictsWithAChangeOfItsShards() {
    RebalancePlan plan = RebalancePlan.of(
        table.latest(), RebalanceOptions.defaults().withAllShards().withWrite(SMALL));
    RowChange change = RowChange.of(table.latest());
    change.delete(3);
    change.commit();
    RebalanceResult result = TableRebalance.of(plan).threads(1).run();
    assertThat(table.latest().length()).isEqualTo(240);
    assertThat(table.latest().shards()).anyMatch(shard -> shard.patch() != null);
    records.remove(3);
    requireEqual(table.latest(), SampleData.of(spare.schema(), records), Verification.FIRST);
    assertThat(result.toString()).isNotEmpty();
  }

  @Test
  void anyFlippedByteOfAPatchIsFound() throws IOException {
    change(40);
    OpenShards.shared().clear();
    requireSound();
    ShardSummary shard = table.latest().shards().stream()
        .filter(s -> s.patch() != null)
        .findFirst()
        .orElseThrow();
    Path file = directory.resolve(shard.directory()).resolve(shard.patch().fileName());
    byte[] sound = Files.readAllBytes(file);
    for (int i = Math.max(30, Budget.of(150)); i > 0; i--) {
      byte[] damaged = sound.clone();
      int at = random.nextInt(sound.length);
      damaged[at] ^= (byte) (1 << random.nextInt(8));
      Files.write(file, damaged);
      assertThat(DatasetCheck.of(directory.toString()).run(finding -> {}).isSound())
          .as("byte " + at + ", seed " + seed)
          .isFalse();
    }
    Files.write(file, sound);
    requireSound();
  }

  private void requireSound() {
    List<Finding> findings = new ArrayList<>();
    assertThat(DatasetCheck.of(directory.toString()).run(findings::add).isSound())
        .as(findings + ", seed " + seed)
        .isTrue();
    assertThat(findings).as("seed " + seed).isEmpty();
  }

  private void rebalanceAll() {
    TableRebalance.of(RebalancePlan.of(
            table.latest(), RebalanceOptions.defaults().withAllShards().withWrite(SMALL)))
        .threads(1)
        .run();
  }

  private void change(int size) {
    RowChange change = RowChange.of(table.latest());
    List<FieldSpec> fields = spare.schema().fields();
    Set<Integer> deleted = new HashSet<>();
    int deletions = random.nextInt(3) == 0 ? 0 : random.nextInt(size / 3 + 1);
    for (int i = 0; i < size; i++) {
      int record = random.nextInt(records.size());
      int field = random.nextInt(fields.size());
      byte[] value = spare.record(random.nextInt(spare.count()))[field];
      byte[][] changed = records.get(record).clone();
      changed[field] = value;
      records.set(record, changed);
      change.update(record, fields.get(field).name(), value);
    }
    for (int i = 0; i < deletions && deleted.size() < records.size() - 2; i++) {
      int record = random.nextInt(records.size());
      if (deleted.add(record)) {
        change.delete(record);
      }
    }
    change.commit();
    List<byte[][]> left = new ArrayList<>();
    for (int i = 0; i < records.size(); i++) {
      if (!deleted.contains(i)) {
        left.add(records.get(i));
      }
    }
    records = left;
  }

  private void append(int count) {
    int from = random.nextInt(spare.count() - count);
    ShardSummary shard = spare.write(storage, SMALL, from, from + count);
    for (int i = from; i < from + count; i++) {
      records.add(spare.record(i));
    }
    table.commit(TableChange.of(TableChange.Kind.APPEND, spare.schema())
        .base(table.exists() ? Optional.of(table.latest()) : Optional.empty())
        .shards(List.of(shard))
        .build());
  }

  private void requireEqual(TableSnapshot snapshot, SampleData model, Verification verification) {
    try (RecordDataset dataset = RecordDataset.open(
        snapshot, new RecordDataset.ReadOptions(verification, new ReadMetrics()))) {
      RoundTripTest.requireEqual(dataset, model, false, seed);
    }
  }

  private Map<Path, String> files() throws IOException {
    Map<Path, String> files = new HashMap<>();
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path path : (Iterable<Path>) all.filter(Files::isRegularFile)::iterator) {
        files.put(path, java.util.Arrays.hashCode(Files.readAllBytes(path)) + "");
      }
    }
    return files;
  }
}
