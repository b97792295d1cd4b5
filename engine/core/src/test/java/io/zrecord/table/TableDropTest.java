package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.StorageException;
import io.zrecord.internal.format.JournalRecord;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.TinyLists;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.MemoryStorage;
import io.zrecord.testing.ObjectStorage;
import io.zrecord.verify.DatasetCheck;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A table that is dropped with its history, and what stays. */
final class TableDropTest {
  private static final OptionalLong NONE = OptionalLong.empty();
  private static final FieldSpec OTHER = RecordSchema.builder()
      .field("other", ElementType.I64)
      .build()
      .fields()
      .get(0)
      .withRules(FieldRules.NONE.withInitial(new byte[8]));
  private static final DropOptions DROP = DropOptions.defaults();
  private static final DropOptions PURGE = DROP.withLeftovers(DropOptions.Leftovers.SWEPT);

  private Instant time = Instant.parse("2026-01-02T00:00:00Z");

  /** Each look at the clock takes a millisecond. */
  private final InstantSource clock = () -> {
    time = time.plusMillis(1);
    return time;
  };

  private MemoryStorage storage = new MemoryStorage(clock);
  private RecordTable table = RecordTable.at(storage, clock);

  private ShardSummary shard(long... values) {
    return Shards.write(storage, Shards.SCHEMA, values);
  }

  private TableSnapshot create(long... values) {
    return table.commit(
        Shards.change(TableChange.Kind.CREATE, NONE, Shards.SCHEMA, List.of(shard(values))));
  }

  private void append(long value) {
    table.commit(Shards.append(Shards.newest(table), shard(value)));
  }

  private void delete(long index) {
    RowChange change = RowChange.of(table.latest());
    change.delete(index);
    change.commit(table);
  }

  private void update(long index, long value) {
    RowChange change = RowChange.of(table.latest());
    change.update(
        index,
        "value",
        ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array());
    change.commit(table);
  }

  /** A table with each kind of file: patches, lists, lists of lists, tags, chunks of others. */
  private UUID history() {
    create(1, 2, 3);
    append(4);
    table.tag(1, "first");
    delete(1);
    RowChange slow = RowChange.of(table.latest());
    slow.update(
        0,
        "value",
        ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(9).array());
    TableRebalance.of(RebalancePlan.of(
            table.latest(),
            RebalanceOptions.defaults()
                .withAllShards()
                .withShardBytes(1 << 20, 1 << 20)
                .withWrite(WriteOptions.defaults().withStripeBytes(1 << 16))))
        .threads(1)
        .run();
    // Its chunk stays in the directory of the shard that was rebalanced.
    slow.commit(table);
    table.addFields(List.of(OTHER));
    time = time.plus(Duration.ofDays(30));
    table.expire(ExpireOptions.defaults());
    append(5);
    table.tag(table.latest().version(), "last");
    update(0, 7);
    return table.latest().tableId();
  }

  private Set<String> names() {
    return storage.names().stream()
        .filter(name -> !name.equals(ManifestNames.HINT))
        .collect(Collectors.toSet());
  }

  private String tombstone() {
    return names().stream()
        .filter(name -> name.startsWith("manifest/"))
        .max(String::compareTo)
        .orElseThrow();
  }

  @Test
  void nothingIsLeftOfAHistoryButTheManifestThatSaysSo() throws Exception {
    UUID id = history();
    assertThat(table.versions()).hasSizeGreaterThan(2);
    assertThat(names()).anyMatch(name -> name.startsWith("tag/"));
    assertThat(names()).anyMatch(name -> name.endsWith(".patch"));
    DropResult would = table.drop(id, DROP.withMode(CareMode.DRY_RUN));
    assertThat(table.exists()).isTrue();
    long files = names().stream().filter(name -> !name.startsWith("manifest/")).count();
    LaterTable.of(storage).sweep(SweepOptions.defaults(), orphan -> {});
    DropResult result = table.drop(id, DROP);
    assertThat(names()).containsExactly(tombstone());
    assertThat(result)
        .isEqualTo(new DropResult(
            CareMode.DELETE, would.versionCount(), would.fileCount(), Optional.empty()));
    assertThat(result.fileCount()).isEqualTo(files);
    assertThat(table.exists()).isFalse();
    assertThat(DatasetCheck.of(storage).run(finding -> {}).isSound()).isTrue();
    assertThatThrownBy(table::latest)
        .isInstanceOf(NotADatasetException.class)
        .hasMessageContaining("it was dropped");
  }

  @Test
  void soItIsWithListsOfLists() throws Exception {
    TinyLists.run(() -> {
      UUID id = history();
      assertThat(names()).anyMatch(name -> name.startsWith("list/"));
      table.drop(id, DROP);
      assertThat(names()).containsExactly(tombstone());
    });
  }

  @Test
  void filesThatNobodyNamedStayAndAPurgeDeletesThoseThatAreOld() {
    TableSnapshot created = create(1, 2);
    ShardSummary unnamed = shard(7);
    List<String> foreign = List.of(
        "README.md",
        "shard/notes.txt",
        created.shards().get(0).directory() + "/notes.txt",
        "other/data.csv");
    foreign.forEach(name -> storage.overwrite(name, new byte[] {1}));
    table.drop(created.tableId(), DROP);
    assertThat(names()).containsAll(foreign).hasSize(foreign.size() + 3);
    assertThat(storage.list(unnamed.directory())).hasSize(2);
    DropResult again = table.drop(created.tableId(), PURGE);
    assertThat(again.versionCount()).isZero();
    assertThat(again.swept().orElseThrow().fileCount()).isZero();
    assertThat(names()).hasSize(foreign.size() + 3);
    time = time.plus(Duration.ofHours(2));
    assertThat(table.drop(created.tableId(), PURGE).swept().orElseThrow().fileCount())
        .isEqualTo(4);
    assertThat(names()).containsExactlyInAnyOrder(tombstone(), "README.md", "other/data.csv");
  }

  /** What a creation wrote so far looks like what somebody left. */
  @Test
  void aCreationWhoseFilesWereSweptIsRefused() {
    List<Consumer<UUID>> sweeps = List.of(
        id -> table.drop(id, PURGE),
        id -> {
          table.drop(id, DROP);
          table.drop(id, PURGE);
        },
        id -> {
          table.drop(id, DROP);
          table.sweep(DropOptions.SWEEP, orphan -> {});
        });
    for (MemoryStorage kind : List.of(new MemoryStorage(clock), new ObjectStorage(clock))) {
      storage = kind;
      table = RecordTable.at(storage, clock);
      for (Consumer<UUID> sweep : sweeps) {
        for (TableChange.Kind change : List.of(TableChange.Kind.CREATE, TableChange.Kind.APPEND)) {
          UUID id = create(1).tableId();
          time = time.plus(Duration.ofMinutes(5));
          ShardSummary slow = shard(1, 2, 3);
          long slowMillis = table.check(slow);
          time = time.plus(Duration.ofMinutes(90));
          ShardSummary quick = shard(4);
          long quickMillis = table.check(quick);
          sweep.accept(id);
          assertThat(storage.list(slow.directory())).isEmpty();
          assertThatThrownBy(() -> table.commitChecked(
                  Shards.change(change, NONE, Shards.SCHEMA, List.of(slow, quick)), slowMillis))
              .isInstanceOf(CommitConflictException.class)
              .hasMessageContaining("run the write again");
          assertThat(table.exists()).isFalse();
          TableSnapshot created = table.commitChecked(
              Shards.change(change, NONE, Shards.SCHEMA, List.of(quick)), quickMillis);
          assertThat(created.tableId()).isNotEqualTo(id);
          assertThat(DatasetCheck.of(storage).run(finding -> {}).isSound()).isTrue();
          table.drop(created.tableId(), DROP);
        }
      }
    }
  }

  /** The clock of the storage went back between the sweep and the drop. */
  @Test
  void aDropLowersNoLimit() {
    UUID id = create(1).tableId();
    time = time.plus(Duration.ofHours(3));
    ShardSummary slow = shard(1, 2, 3);
    long slowMillis = table.check(slow);
    time = time.plus(Duration.ofHours(2));
    table.sweep(DropOptions.SWEEP, orphan -> {});
    time = time.minus(Duration.ofHours(4));
    table.tag(0, "later");
    table.drop(id, DROP);
    assertThatThrownBy(() -> table.commitChecked(
            Shards.change(TableChange.Kind.CREATE, NONE, Shards.SCHEMA, List.of(slow)), slowMillis))
        .isInstanceOf(CommitConflictException.class);
    // A sweep knows the time of now.
    table.sweep(DropOptions.SWEEP, orphan -> {});
    assertThat(create(5).length()).isOne();
  }

  @Test
  void noDirectoryOfAShardStaysThoughOneIsGone(@TempDir Path directory) throws Exception {
    Storage local = LocalStorage.at(directory);
    RecordTable gone = RecordTable.at(local);
    List<ShardSummary> shards = new ArrayList<>();
    for (long value = 0; value < 3; value++) {
      shards.add(Shards.write(local, Shards.SCHEMA, value));
    }
    UUID id = gone.commit(Shards.change(TableChange.Kind.CREATE, NONE, Shards.SCHEMA, shards))
        .tableId();
    String first = shards.get(0).directory();
    local.list(first).forEach(file -> local.delete(first + "/" + file.name()));
    assertThat(local.deleteIfEmpty(first)).isTrue();
    gone.drop(id, DROP);
    assertThat(local.list("shard")).isEmpty();
  }

  @Test
  void aTableThatCameInItsPlaceIsAConflict() {
    UUID first = create(1, 2).tableId();
    table.drop(first, DROP);
    UUID second = create(3).tableId();
    assertThat(table.versions()).containsExactly(2L);
    for (CareMode mode : CareMode.values()) {
      assertThatThrownBy(() -> table.drop(first, DROP.withMode(mode)))
          .isInstanceOf(CommitConflictException.class)
          .hasMessageContaining("stands there now; nothing was deleted");
    }
    assertThat(table.latest().length()).isOne();
    table.drop(second, DROP);
    assertThat(names()).containsExactly("manifest/00000000000000000003.json");
    assertThatThrownBy(() -> table.drop(first, DROP)).isInstanceOf(NotADatasetException.class);
  }

  @Test
  void whereThereIsNoTableNothingIsDropped() {
    assertThatThrownBy(() -> table.drop(UUID.randomUUID(), DROP))
        .isInstanceOf(NotADatasetException.class);
    storage.overwrite(JournalRecord.FILE_NAME, new byte[] {1});
    assertThatThrownBy(() -> table.drop(UUID.randomUUID(), DROP))
        .isInstanceOf(NotADatasetException.class)
        .hasMessageContaining("it is a store, which is written online; close the program");
  }

  @Test
  void aTableWhoseFilesCannotBeKnownIsLeftWhole() {
    UUID id = create(1, 2).tableId();
    append(3);
    Set<String> names = names();
    String aside = ManifestNames.nameOf(2) + ".damaged-" + UUID.randomUUID();
    storage.overwrite(aside, new byte[] {1});
    assertThatThrownBy(() -> table.drop(id, DROP))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("a repair left");
    storage.delete(aside);
    assertThat(names()).isEqualTo(names);
  }

  @Test
  void everyCommitThatWasPlannedOnItSaysThatItWasDropped() {
    TableSnapshot base = create(1, 2, 3);
    ShardSummary written = shard(7);
    List<RowChange> rows = List.of(RowChange.of(base), RowChange.of(base));
    rows.forEach(change -> change.delete(1));
    SchemaChange fields = SchemaChange.of(base).add(OTHER, FieldPlace.last());
    table.drop(base.tableId(), DROP);
    for (boolean isAnotherThere : List.of(false, true)) {
      List<Runnable> commits = List.of(
          () -> table.commit(Shards.append(OptionalLong.of(base.version()), written)),
          () -> table.commit(TableChange.of(TableChange.Kind.OVERWRITE, Shards.SCHEMA)
              .base(base)
              .shards(List.of(written))
              .build()),
          () -> rows.get(isAnotherThere ? 1 : 0).commit(table),
          () -> fields.commit(table),
          () -> DeclarationChange.of(base).comment("x").commit());
      for (Runnable commit : commits) {
        assertThatThrownBy(commit::run)
            .as("another %s", isAnotherThere)
            .isInstanceOf(CommitConflictException.class)
            .hasMessageContaining("dropped");
      }
      if (!isAnotherThere) {
        create(4);
      }
    }
    assertThat(table.latest().length()).isOne();
  }

  /** Its first try may have had effect, and then its files were dropped. */
  @Test
  void aCreationThatWasTriedBeforeIsRefusedAfterADrop() {
    ShardSummary shard = shard(1, 2);
    TableChange creation =
        Shards.change(TableChange.Kind.CREATE, NONE, Shards.SCHEMA, List.of(shard));
    table.drop(table.commit(creation).tableId(), DROP);
    // The files may still have been there when they were checked.
    assertThatThrownBy(() -> table.commitChecked(creation, time.minusSeconds(1).toEpochMilli()))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("was dropped; run the write again");
    create(5);
    assertThatThrownBy(() ->
            table.commitChecked(Shards.append(NONE, shard), time.minusSeconds(1).toEpochMilli()))
        .isInstanceOf(CommitConflictException.class);
    assertThat(table.latest().length()).isOne();
  }

  /** The clock of many storages of objects counts seconds. */
  @Test
  void withACoarseClockATableIsCreatedAtOnceAfterADrop() {
    InstantSource coarse = () -> Instant.ofEpochMilli(System.currentTimeMillis() / 200 * 200);
    storage = new MemoryStorage(coarse);
    table = RecordTable.at(storage, coarse);
    for (int round = 0; round < 5; round++) {
      table.drop(create(1, 2).tableId(), DROP);
    }
    assertThat(table.exists()).isFalse();
  }

  @Test
  void aReaderThatMissesAFileIsToldThatTheTableWasDropped() {
    for (MemoryStorage kind : List.of(new MemoryStorage(clock), new ObjectStorage(clock))) {
      storage = kind;
      table = RecordTable.at(storage, clock);
      TableSnapshot snapshot = create(1, 2, 3);
      RecordDataset dataset = RecordDataset.open(snapshot, ReadOptions.defaults());
      table.drop(snapshot.tableId(), DROP);
      assertThatThrownBy(() -> dataset.reader("value").select(new long[] {1}, 0, 1))
          .isInstanceOf(MissingFileException.class)
          .hasMessageContaining("was dropped");
      create(4);
      assertThatThrownBy(() -> dataset.reader("value").select(new long[] {1}, 0, 1))
          .isInstanceOf(MissingFileException.class)
          .hasMessageContaining("may have been dropped: version 2");
      dataset.close();
    }
  }

  @Test
  void manyFilesTakeFewRequests() {
    ObjectStorage objects = new ObjectStorage(clock);
    storage = objects;
    table = RecordTable.at(objects, clock);
    List<ShardSummary> shards = new ArrayList<>();
    LongStream.range(0, 1500).forEach(value -> shards.add(shard(value)));
    table.commit(Shards.change(TableChange.Kind.CREATE, NONE, Shards.SCHEMA, shards));
    for (int version = 1; version < 5; version++) {
      append(version);
    }
    UUID id = table.latest().tableId();
    objects.forgetRequests();
    assertThat(table.drop(id, DROP).fileCount()).isGreaterThan(3000);
    assertThat(names()).containsExactly(tombstone());
    // A tables file of each shard is looked at, as in a sweep, and each manifest is deleted.
    Map<String, Integer> requests = objects.requests();
    assertThat(requests.get("get")).as("%s", requests).isBetween(1504, 1540);
    assertThat(requests.get("delete")).as("%s", requests).isBetween(5 + 4, 5 + 5);
    assertThat(requests.get("list")).as("%s", requests).isLessThan(12);
    assertThat(requests.get("put")).as("%s", requests).isLessThan(4);
    assertThat(requests.getOrDefault("head", 0)).as("%s", requests).isLessThan(11);
  }
}
