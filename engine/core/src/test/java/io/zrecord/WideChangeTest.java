package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.ShardChanges;
import io.zrecord.changes.TableChanges;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.read.IndexSet;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.ElementType;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.table.ChangeBase;
import io.zrecord.table.MergeChange;
import io.zrecord.table.RowChange;
import io.zrecord.table.ShardChange;
import io.zrecord.table.ShardChangeWriter;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import io.zrecord.testing.UnmappedStorage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A change of records that a patch cannot have gives the field tables of its own, whatever kind of
 * field it is and whatever patch the shard had: the records are right however they are read, the
 * other fields keep their files, and the version says exactly what it changed.
 */
final class WideChangeTest extends ChangedFieldTable {
  /** Each task writes a chunk, so that the chunks of these are more than a patch has. */
  private static final int TASKS = PatchRef.MOST_CHUNKS + 1;

  @ParameterizedTest
  @EnumSource(Kind.class)
  void aFieldGetsTablesOfItsOwn(Kind kind) throws IOException {
    kinds = kind.withOthers();
    List<Changes> some = new ArrayList<>(List.of(Changes.values()));
    Collections.shuffle(some, random);
    for (Changes changes : some.subList(0, Math.min(some.size(), Budget.of(10)))) {
      write(changes.name());
      change(changes, kind);
      if (kind == Kind.PROMOTED) {
        promote();
      }
      TableSnapshot before = table.latest();
      SampleData old = SampleData.of(before.schema(), records);
      String what = changes + " of " + kind;
      Told told = changeWidely(kind);
      told.requireSaid(what);
      requireMoved(before.shards().get(0), kind, what);
      requireEqual(what, storage);
      requireEqual(what, new UnmappedStorage(storage, 1 << 14));
      requireNoOtherFiles(what);
      change(changes, kind);
      requireEqual(what, storage);
      told.requireSaid(what);
      rebalance();
      requireEqual(what, storage);
      requireEqual(table.version(before.version()), old);
      requireSound(what);
    }
  }

  /** What a version must say of the records of the first shard. */
  private final class Told {
    final Set<Long> deleted = new TreeSet<>();
    final SortedMap<Integer, Set<Long>> fields = new TreeMap<>();
    long version;

    void update(int fieldId, long index) {
      fields.computeIfAbsent(fieldId, id -> new TreeSet<>()).add(index);
    }

    void requireSaid(String what) {
      List<ShardChanges> shards = TableChanges.of(storage).of(version).shards();
      assertThat(shards).as(what).hasSize(1);
      RecordChanges said = shards.get(0).read(storage);
      assertThat(said.inserted()).as(what).isEqualTo(IndexSet.empty());
      assertThat(indices(said.deleted())).as(what).isEqualTo(deleted);
      SortedMap<Integer, Set<Long>> saidFields = new TreeMap<>();
      said.fields().forEach((id, indices) -> saidFields.put(id, indices(indices)));
      assertThat(saidFields).as(what).isEqualTo(fields);
      Set<Long> changed = new TreeSet<>();
      fields.values().forEach(changed::addAll);
      assertThat(indices(said.changedBefore())).as(what).isEqualTo(changed);
      Set<Long> after = new TreeSet<>();
      for (long index : changed) {
        after.add(index - deleted.stream().filter(gone -> gone < index).count());
      }
      assertThat(indices(said.changedAfter())).as(what).isEqualTo(after);
    }
  }

  private static Set<Long> indices(IndexSet set) {
    Set<Long> indices = new TreeSet<>();
    for (int range = 0; range < set.rangeCount(); range++) {
      for (long index = set.rangeFrom(range); index < set.rangeTo(range); index++) {
        indices.add(index);
      }
    }
    return indices;
  }

  /** Gives values of the field by so many tasks that their chunks are too many for a patch. */
  private Told changeWidely(Kind kind) {
    TableSnapshot base = table.latest();
    ShardSummary shard = base.shards().get(0);
    Told told = new Told();
    told.version = base.version() + 1;
    MergeChange merge = MergeChange.of(base);
    int length = (int) shard.length();
    for (int task = 0; task < TASKS; task++) {
      try (ShardChangeWriter writer = ShardChangeWriter.open(
          storage, ChangeBase.of(base), shard, Set.of(kind.name(), kinds.get(0).name()))) {
        for (int index = task; index < length; index += TASKS) {
          if (index % 50 == 7) {
            writer.delete(index);
            told.deleted.add((long) index);
          } else {
            // A value, so that each task has a chunk.
            byte[] value = present(kind);
            writer.update(index, kind.name(), value);
            set(index, kind, value);
            told.update(current(kind).id(), index);
            if (index % 40 == 3) {
              byte[] other = value(current(kinds.get(0)));
              writer.update(index, kinds.get(0).name(), other);
              set(index, kinds.get(0), other);
              told.update(current(kinds.get(0)).id(), index);
            }
          }
        }
        ShardChange change = writer.finish();
        merge.change(change);
      }
    }
    merge.commit();
    List<byte[][]> left = new ArrayList<>();
    for (int i = 0; i < records.size(); i++) {
      if (!told.deleted.contains((long) i)) {
        left.add(records.get(i));
      }
    }
    records = left;
    return told;
  }

  private byte[] present(Kind kind) {
    byte[] value = null;
    while (value == null || value.length == 0) {
      value = value(current(kind));
    }
    return value;
  }

  /** Requires that the field is in a tables file of its own, and the others are where they were. */
  private void requireMoved(ShardSummary before, Kind kind, String what) {
    ShardSummary after = table.latest().shards().get(0);
    assertThat(after.id()).as(what).isEqualTo(before.id());
    assertThat(after.slots()).as(what).isEqualTo(before.slots());
    Set<Integer> moved = new HashSet<>();
    for (TablesRef file : after.tables()) {
      if (before.tables().stream().noneMatch(known -> known.id().equals(file.id()))) {
        moved.addAll(file.fieldIds());
      }
    }
    assertThat(moved).as(what).containsExactly(current(kind).id());
    PatchFile patch = OpenShards.unshared(storage, after).patch();
    assertThat(patch).as(what).isNotNull();
    assertThat(patch.json().hasField(current(kind).id())).as(what).isFalse();
    assertThat(patch.slotsOfCommit().orElseThrow().before())
        .as(what)
        .isEqualTo(Optional.ofNullable(before.patch()).map(PatchRef::id));
    assertThat(patch.json().chunks()).as(what).hasSizeLessThanOrEqualTo(PatchRef.MOST_CHUNKS);
  }

  /** Requires that only files that a version names are left. */
  private void requireNoOtherFiles(String what) throws IOException {
    Set<String> named = new TreeSet<>();
    for (long version : table.versions()) {
      for (ShardSummary shard : table.version(version).shards()) {
        shard.chunks().forEach(chunk -> named.add(shard.fileOf(chunk)));
        shard.tables().forEach(tables -> named.add(shard.fileOf(tables)));
        PatchRef patch = shard.patch();
        if (patch != null) {
          named.add(shard.fileOf(patch));
        }
      }
    }
    try (Stream<Path> files = Files.walk(path.resolve("shard"))) {
      Set<String> present = new TreeSet<>();
      files
          .filter(Files::isRegularFile)
          .forEach(file -> present.add(path.relativize(file).toString().replace('\\', '/')));
      assertThat(present).as(what).isEqualTo(named);
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void aPatchThatIsFullIsEmptiedIntoTables(Kind kind) throws IOException {
    kinds = kind.withOthers();
    write("full");
    for (int commit = 0; commit < PatchRef.MOST_CHUNKS + 1; commit++) {
      RowChange change = RowChange.of(table.latest());
      byte[] value = present(kind);
      change.update(commit, kind.name(), value);
      set(commit, kind, value);
      Told told = new Told();
      told.update(current(kind).id(), commit);
      change.commit();
      told.version = table.latest().version();
      told.requireSaid(kind + ", commit " + commit);
    }
    assertThat(table.latest().shards().get(0).patch()).as(kind.name()).isNull();
    requireEqual(kind.name(), storage);
    requireNoOtherFiles(kind.name());
    requireSound(kind.name());
  }

  /** Each of two tasks cannot add to values of another field of the patch. */
  @Test
  void tasksThatMoveDifferentFieldsAreJoined() {
    kinds = Kind.PROMOTED.withOthers();
    write("different");
    change(Changes.OF_BOTH, Kind.PROMOTED);
    table.promoteField(Kind.OTHER.name(), ElementType.I64);
    promote(Kind.OTHER);
    promote();
    TableSnapshot base = table.latest();
    ShardSummary shard = base.shards().get(0);
    MergeChange merge = MergeChange.of(base);
    Told told = new Told();
    told.version = base.version() + 1;
    for (Kind kind : List.of(Kind.PROMOTED, Kind.OTHER)) {
      int index = kind == Kind.OTHER ? 1 : 2;
      try (ShardChangeWriter writer =
          ShardChangeWriter.open(storage, ChangeBase.of(base), shard, Set.of(kind.name()))) {
        byte[] value = present(kind);
        writer.update(index, kind.name(), value);
        set(index, kind, value);
        told.update(current(kind).id(), index);
        merge.change(writer.finish());
      }
    }
    merge.commit();
    requireEqual("different", storage);
    told.requireSaid("different");
    requireSound("different");
  }

  @Test
  void aWideChangeAndARebalanceDoNotBothSucceed() {
    kinds = Kind.FIXED.withOthers();
    write("rebalance");
    RebalancePlan plan = RebalancePlan.of(
        table.latest(), RebalanceOptions.defaults().withAllShards().withWrite(OPTIONS));
    MergeChange late = widely(table.latest(), Kind.FIXED);
    changeWidely(Kind.FIXED);
    assertThat(TableRebalance.of(plan).threads(1).run().failures()).hasSize(1);
    requireEqual("a rebalance that is late", storage);
    assertThatThrownBy(late::commit).isInstanceOf(CommitConflictException.class);
    MergeChange again = widely(table.latest(), Kind.FIXED);
    rebalance();
    assertThatThrownBy(again::commit).isInstanceOf(CommitConflictException.class);
    requireEqual("a change that is late", storage);
  }

  private MergeChange widely(TableSnapshot base, Kind kind) {
    MergeChange merge = MergeChange.of(base);
    ShardSummary shard = base.shards().get(0);
    for (int task = 0; task < TASKS; task++) {
      try (ShardChangeWriter writer =
          ShardChangeWriter.open(storage, ChangeBase.of(base), shard, Set.of(kind.name()))) {
        writer.update(task, kind.name(), present(kind));
        merge.change(writer.finish());
      }
    }
    return merge;
  }

  @Test
  void damageOfWhatAFileSaysOfItsCommitIsFound() throws IOException {
    kinds = Kind.TEXT.withOthers();
    write("damage");
    Told told = changeWidely(Kind.TEXT);
    ShardSummary shard = table.latest().shards().get(0);
    TablesRef file = shard.tables().get(1);
    Section section = TablesFile.open(storage, shard, file, kept -> {})
        .json()
        .since()
        .fields()
        .get(current(Kind.TEXT).id())
        .section();
    Path tables = path.resolve(shard.fileOf(file));
    byte[] bytes = Files.readAllBytes(tables);
    for (int bit = 0; bit < 8 * section.bytes(); bit += 1 + random.nextInt(40)) {
      byte[] flipped = bytes.clone();
      flipped[(int) section.position() + bit / 8] ^= (byte) (1 << bit % 8);
      Files.write(tables, flipped);
      requireEqual("damage", storage);
      assertThatThrownBy(() -> told.requireSaid("damage")).isInstanceOf(CorruptDataException.class);
      assertThat(DatasetCheck.of(path.toString()).run(finding -> {}).isSound()).isFalse();
    }
    Files.write(tables, bytes);
    requireSound("damage");
  }

  /** Values that are dropped again leave those of the patch as they are stored. */
  @ParameterizedTest
  @EnumSource(Kind.class)
  void aValueThatIsDroppedAgainChangesNothing(Kind kind) {
    kinds = kind.withOthers();
    write("dropped");
    change(Changes.OF_BOTH, kind);
    TableSnapshot base = table.latest();
    MergeChange merge = MergeChange.of(base);
    try (ShardChangeWriter writer = ShardChangeWriter.open(
        storage, ChangeBase.of(base), base.shards().get(0), Set.of(kind.name()))) {
      writer.update(1, kind.name(), present(kind));
      writer.delete(1);
      merge.change(writer.finish());
    }
    merge.commit();
    records.remove(1);
    requireEqual(kind.name(), storage);
    requireSound(kind.name());
  }

  /** An absent value is given to a record that had none, beside values of another type. */
  @Test
  void anAbsentValueThatTakesThePlaceOfNoneIsSaid() {
    kinds = Kind.PROMOTED.withOthers();
    write("absent");
    RowChange change = RowChange.of(table.latest());
    change.update(5, Kind.PROMOTED.name(), null);
    set(5, Kind.PROMOTED, null);
    byte[] value = present(Kind.PROMOTED);
    change.update(6, Kind.PROMOTED.name(), value);
    set(6, Kind.PROMOTED, value);
    change.commit();
    promote();
    RowChange second = RowChange.of(table.latest());
    second.update(5, Kind.PROMOTED.name(), null);
    second.delete(100);
    records.remove(100);
    second.commit();
    Told told = new Told();
    told.version = table.latest().version();
    told.update(current(Kind.PROMOTED).id(), 5);
    told.deleted.add(100L);
    told.requireSaid("absent");
    requireEqual("absent", storage);
    requireSound("absent");
    PatchFile patch =
        OpenShards.unshared(storage, table.latest().shards().get(0)).patch();
    assertThat(patch.slotsOfCommit().orElseThrow().before())
        .contains(table.version(told.version - 1).shards().get(0).patch().id());
  }

  @Test
  void ofAFullPatchTheFieldThatSufficesIsWritten() {
    kinds = Kind.TENSOR.withOthers();
    write("suffices");
    RowChange tensors = RowChange.of(table.latest());
    for (int index = 0; index < 100; index++) {
      byte[] value = present(Kind.TENSOR);
      tensors.update(index, Kind.TENSOR.name(), value);
      set(index, Kind.TENSOR, value);
    }
    tensors.commit();
    for (int commit = 0; commit < PatchRef.MOST_CHUNKS; commit++) {
      RowChange change = RowChange.of(table.latest());
      byte[] value = present(Kind.OTHER);
      change.update(commit, Kind.OTHER.name(), value);
      set(commit, Kind.OTHER, value);
      change.commit();
    }
    List<TablesRef> tables = table.latest().shards().get(0).tables();
    assertThat(tables).hasSize(2);
    assertThat(tables.get(1).fieldIds()).containsExactly(current(Kind.OTHER).id());
    requireEqual("suffices", storage);
    requireSound("suffices");
  }

  @Test
  void valuesOfADroppedFieldLeaveAFullPatch() throws IOException {
    kinds = Kind.TEXT.withOthers();
    write("leave");
    for (int commit = 0; commit <= PatchRef.MOST_CHUNKS; commit++) {
      if (commit == 40) {
        table.dropField(Kind.OTHER_TEXT.name());
        kinds = List.of(kinds.get(0), Kind.TEXT);
        records.replaceAll(record -> new byte[][] {record[0], record[2]});
      }
      Kind kind = commit < 40 ? Kind.OTHER_TEXT : Kind.TEXT;
      RowChange change = RowChange.of(table.latest());
      for (int index = commit; index < commit + (commit < 40 ? 3 : 1); index++) {
        byte[] value = present(kind);
        change.update(index, kind.name(), value);
        set(index, kind, value);
      }
      change.commit();
    }
    ShardSummary shard = table.latest().shards().get(0);
    assertThat(shard.tables()).hasSize(1);
    PatchFile patch = OpenShards.unshared(storage, shard).patch();
    assertThat(patch.json().fields().keySet())
        .containsExactly(current(Kind.TEXT).id());
    requireEqual("leave", storage);
    requireNoOtherFiles("leave");
    requireSound("leave");
  }
}
