package io.zrecord.changes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.internal.table.ListLimits;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.TinyLists;
import io.zrecord.read.IndexSet;
import io.zrecord.rebalance.TableRelayout;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.schema.ElementType;
import io.zrecord.shard.PatchRef;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.LaterTable;
import io.zrecord.table.MergeChange;
import io.zrecord.table.RowChange;
import io.zrecord.testing.Budget;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What differs between two versions is told once for each record, and turns one into the other. */
final class NetChangesTest {
  private static final int NUMBER = 1;

  /** Commits of a history of which all pairs of versions are compared. */
  private static final int MOST_ROUNDS = 60;

  private final Random random = Budget.random();

  @TempDir
  Path directory;

  private Storage storage;
  private ModelTable model;
  private TableChanges changes;

  @BeforeEach
  void create() {
    create("table");
  }

  private void create(String name) {
    storage = LocalStorage.at(directory.resolve(name));
    model = new ModelTable(storage, random, 12, 1, 9);
    changes = TableChanges.of(storage);
  }

  /** Compares what is told between two versions with lists, and applies it. */
  private RecordChanges requireTold(long from, long to) {
    NetChanges net = changes.net(from, to);
    assertThat(net.from()).isEqualTo(from);
    assertThat(net.to()).isEqualTo(to);
    assertThat(net.records())
        .as("version %d to version %d", from, to)
        .isEqualTo(model.differences(from, to));
    requireApplicable(from, to, net.records());
    return net.records();
  }

  /** Turns a version into a later one by the values of what is told, and initial defaults. */
  private void requireApplicable(long from, long to, RecordChanges told) {
    List<Map<Integer, String>> after = model.values(to);
    List<@Nullable Map<Integer, String>> applied = new ArrayList<>();
    for (Map<Integer, String> values : model.values(from)) {
      Map<Integer, String> present = new HashMap<>(defaults(from, to));
      present.putAll(values);
      present.keySet().removeIf(id -> model.schemas.get(to).find(id).isEmpty());
      applied.add(present);
    }
    long[] now = indices(told.changedAfter());
    long[] then = indices(told.changedBefore());
    for (int i = 0; i < then.length; i++) {
      Map<Integer, String> values = Objects.requireNonNull(applied.get((int) then[i]));
      for (int field : told.fields().keySet()) {
        if (told.fields().get(field).contains(then[i])) {
          values.remove(field);
          String value = after.get((int) now[i]).get(field);
          if (value != null) {
            values.put(field, value);
          }
        }
      }
    }
    for (long index : indices(told.deleted())) {
      applied.set((int) index, null);
    }
    applied.removeIf(Objects::isNull);
    for (long index : indices(told.inserted())) {
      applied.add((int) index, after.get((int) index));
    }
    assertThat(applied).isEqualTo(after);
  }

  /** Returns the initial defaults of the fields that the earlier version does not have. */
  private Map<Integer, String> defaults(long from, long to) {
    Map<Integer, String> initial = new HashMap<>();
    model.schemas.get(to).fields().forEach(field -> {
      boolean isNew = from < 0 || model.schemas.get(from).find(field.id()).isEmpty();
      if (isNew && field.rules().initial().isPresent()) {
        initial.put(
            field.id(), ModelTable.text(field.type(), field.rules().initial().get()));
      }
    });
    return initial;
  }

  private static long[] indices(IndexSet set) {
    LongStream.Builder all = LongStream.builder();
    for (int range = 0; range < set.rangeCount(); range++) {
      LongStream.range(set.rangeFrom(range), set.rangeTo(range)).forEach(all);
    }
    return all.build().toArray();
  }

  @Test
  void aRecordIsToldOnce() {
    model.append(4);
    model.change(List.of(0, 23), List.of(2, 22));
    model.rebalance();
    model.change(List.of(3), List.of(1, 22));
    long last = model.versions.lastKey();
    RecordChanges told = requireTold(0, last);
    // Of the four that were appended, one was deleted, and the others got values.
    assertThat(told.inserted()).isEqualTo(IndexSet.range(20, 23));
    assertThat(told.deleted()).isEqualTo(IndexSet.of(0, 4));
    assertThat(told.changedBefore()).isEqualTo(IndexSet.of(2));
    assertThat(told.changedAfter()).isEqualTo(IndexSet.of(1));
    for (long from = -1; from <= last; from++) {
      for (long to = Math.max(0, from); to <= last; to++) {
        requireTold(from, to);
      }
    }
    assertThat(changes.net(last, last).records()).isEqualTo(RecordChanges.NONE);
  }

  @Test
  void fieldsAreThoseOfTheLaterVersion() {
    model.change(List.of(), List.of(3));
    model.addFieldWithDefault("default");
    assertThat(requireTold(1, 2)).isEqualTo(RecordChanges.NONE);
    model.addFieldWithValues("given");
    assertThat(requireTold(0, 3).fields()).containsKey(4).doesNotContainKey(3);
    model.rewrite("number");
    model.promote("number");
    model.rename("number", "long");
    assertThat(requireTold(0, 6).fields()).containsKeys(NUMBER, 4);
    model.drop("text");
    model.drop("given");
    assertThat(requireTold(0, 8).fields()).containsOnlyKeys(NUMBER);
    model.drop("long");
    assertThat(requireTold(0, 9)).isEqualTo(RecordChanges.NONE);
    assertThat(requireTold(3, 6).fields()).containsOnlyKeys(NUMBER);
  }

  @Test
  void anOverwriteInsertsAndDeletesAll() {
    model.change(List.of(1), List.of(3));
    model.overwrite(5, 6);
    model.change(List.of(1), List.of(3));
    RecordChanges told = requireTold(0, 3);
    assertThat(told.deleted()).isEqualTo(IndexSet.range(0, 22));
    assertThat(told.inserted()).isEqualTo(IndexSet.range(0, 10));
  }

  /** The records of a shard that is taken back are others, also if nothing was changed in it. */
  @Test
  void anOverwriteWithEarlierShardsInsertsAndDeletesAll() {
    model.change(List.of(1), List.of(3));
    model.rewrite("number");
    model.restore(0);
    model.change(List.of(0), List.of(2));
    model.restore(1);
    model.merge(2);
    model.rebalance();
    model.restore(2);
    model.change(List.of(0), List.of(2));
    long last = model.versions.lastKey();
    for (long from = -1; from <= last; from++) {
      for (long to = Math.max(0, from); to <= last; to++) {
        requireTold(from, to);
      }
    }
    RecordChanges restored = requireTold(2, 3);
    assertThat(restored.deleted().count()).isEqualTo(model.values(2).size());
    assertThat(restored.inserted().count()).isEqualTo(model.values(3).size());
  }

  /** More commits make more histories: each pair of versions of a history is compared. */
  @Test
  void anyTwoVersionsDiffer() {
    int wrong = 0;
    int rounds = Math.max(12, Budget.of(MOST_ROUNDS));
    for (int history = 1; rounds > 0; history++) {
      create("history " + history);
      wrong += compareAfter(Math.min(rounds, MOST_ROUNDS));
      rounds -= MOST_ROUNDS;
    }
    // The control: what versions changed, put together index by index, is wrong.
    assertThat(wrong).isPositive();
  }

  private int compareAfter(int rounds) {
    int wrong = 0;
    for (int round = rounds; round > 0; round--) {
      commitAny(round);
      if (round == 4) {
        model.restore(anyVersion());
      }
    }
    long last = model.versions.lastKey();
    long floor = model.table.versions().get(0);
    for (long from = floor; from <= last; from++) {
      for (long to = from; to <= last; to++) {
        OptionalLong rewritten = lastRewritten(from, to);
        if (rewritten.isPresent()) {
          requireRefused(from, to, rewritten.getAsLong());
          continue;
        }
        RecordChanges told = requireTold(from, to);
        wrong += told.equals(withoutRenumbering(from, to)) ? 0 : 1;
      }
    }
    return wrong;
  }

  @Test
  void soTheyDoIfShardsOfListsAreReplaced() throws Exception {
    TinyLists.run(new ListLimits(2, 2, 1, 50), () -> {
      anyTwoVersionsDiffer();
      model.overwrite(5, 6, 7, 8);
      long first = model.versions.lastKey();
      model.change(List.of(), List.of(0));
      model.change(List.of(2), List.of(7));
      requireTold(first, first + 2);
    });
    ManifestLog log = new ManifestLog(model.storage);
    assertThat(model.table.versions())
        .anyMatch(version ->
            log.read(version).lists().stream().anyMatch(list -> !list.replaced().isEmpty()));
  }

  /** Returns the last version that wrote shards again; empty if none did. */
  private OptionalLong lastRewritten(long from, long to) {
    return LongStream.rangeClosed(from + 1, to)
        .filter(version ->
            model.table.version(version).properties().containsKey(MergeChange.REWRITTEN_SHARDS))
        .max();
  }

  private void requireRefused(long from, long to, long named) {
    assertThatThrownBy(() -> changes.net(from, to))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining("version " + named + " ")
        .hasMessageContaining("other shards");
  }

  private RecordChanges withoutRenumbering(long from, long to) {
    IndexSet inserted = IndexSet.empty();
    IndexSet deleted = IndexSet.empty();
    IndexSet changed = IndexSet.empty();
    for (VersionChanges version : changes.between(from, to).toList()) {
      for (ShardChanges shard : version.shards()) {
        RecordChanges records = shard.read(storage);
        inserted = inserted.union(records.inserted());
        deleted = deleted.union(records.deleted());
        changed = changed.union(records.changedBefore());
      }
    }
    return new RecordChanges(inserted, deleted, changed, changed, new TreeMap<>());
  }

  private void commitAny(int round) {
    if (model.newest().isEmpty()) {
      model.append(9);
    }
    switch (random.nextInt(17)) {
      case 0, 1 -> model.append(1 + random.nextInt(8));
      case 2, 3 -> model.rebalance();
      case 4 -> model.merge(1 + random.nextInt(4));
      case 5 -> model.addFieldWithDefault("default" + round);
      case 6 -> model.addFieldWithValues("given" + round);
      case 7 -> model.rewrite(anyField());
      case 8 -> model.rename(anyField(), "name" + round);
      case 9 -> {
        if (model.schema().fields().size() > 1) {
          model.drop(anyField());
        }
      }
      case 10 -> {
        if (random.nextInt(4) == 0) {
          model.overwrite(7, 3);
        }
      }
      case 16 -> {
        if (random.nextInt(3) == 0) {
          model.restore(anyVersion());
        }
      }
      case 11 -> {
        model.table.tag(model.versions.lastKey(), "tag" + round);
        model.noteCare();
      }
      case 12 ->
        model.schema().fields().stream()
            .filter(field -> field.type().equals(ElementType.I32))
            .findFirst()
            .ifPresentOrElse(field -> model.promote(field.name()), () -> model.merge(0));
      default -> {
        List<Integer> indices = model.someIndices(1 + random.nextInt(6));
        int half = random.nextInt(indices.size() + 1);
        model.change(indices.subList(0, half), indices.subList(half, indices.size()));
      }
    }
  }

  private long anyVersion() {
    return random.nextLong(model.versions.firstKey(), model.versions.lastKey() + 1);
  }

  private String anyField() {
    return model
        .schema()
        .fields()
        .get(random.nextInt(model.schema().fields().size()))
        .name();
  }

  @Test
  void whatCannotBeFollowedIsRefusedAndNamed() {
    model.change(List.of(1), List.of(3));
    TableRelayout.of(model.table.latest(), RecordOrder.shuffle(1))
        .layout(ModelTable.WRITE, 1 << 20)
        .threads(1)
        .run();
    assertThatThrownBy(() -> changes.net(0, 2))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining("version 2")
        .hasMessageContaining("order");
    requireTold(0, 1);
    assertThatThrownBy(() -> changes.net(2, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> changes.net(-2, 1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> changes.net(1, 9))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining("version 9");
  }

  /** A version says so of itself, if very many records of a shard were deleted. */
  @Test
  void aShardThatWasWrittenToAnotherOneEndsTheChain() {
    model.change(List.of(1), List.of(3));
    RowChange change = RowChange.of(model.table.latest());
    change.property(MergeChange.REWRITTEN_SHARDS, "1");
    change.delete(2);
    change.commit();
    requireRefused(0, 2, 2);
    requireTold(0, 1);
  }

  @Test
  void aPatchThatIsEmptiedIntoTablesEndsNothing() {
    model.append(3 * PatchRef.MOST_CHUNKS);
    // Each commit that gives a value to another record adds a chunk to the patch.
    int index = 22;
    while (!hasNewTables()) {
      model.change(List.of(), List.of(index++));
    }
    long moved = model.versions.lastKey();
    model.change(List.of(1), List.of());
    requireTold(moved - 2, moved + 1);
    requireTold(moved - 1, moved);
    requireTold(0, moved + 1);
  }

  private boolean hasNewTables() {
    return model.table.latest().shards().stream()
        .anyMatch(shard -> shard.tables().size() > 1);
  }

  @Test
  void aShardWhosePatchHasANarrowerTypeIsTold() {
    RowChange narrow = RowChange.of(model.table.latest());
    narrow.update(1, "number", 7);
    narrow.commit();
    model.table.promoteField("number", ElementType.I64);
    RowChange wide = RowChange.of(model.table.latest());
    wide.update(2, "number", 8L);
    wide.commit();
    assertThat(changes.net(0, 3).records().changedBefore()).isEqualTo(IndexSet.range(1, 3));
    assertThat(changes.net(2, 3).records().changedBefore()).isEqualTo(IndexSet.of(2));
    assertThat(changes.net(0, 2).records().changedBefore()).isEqualTo(IndexSet.of(1));
  }

  @Test
  void anExpiredVersionIsNamed() {
    model.change(List.of(1), List.of(3));
    model.table.tag(1, "kept");
    model.noteCare();
    model.change(List.of(1), List.of(3));
    model.change(List.of(), List.of(3));
    LaterTable.expire(storage, 2);
    model.noteCare();
    long floor = model.table.versions().get(1);
    assertThat(floor).isGreaterThan(2);
    assertThatThrownBy(() -> changes.net(1, model.versions.lastKey()))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining("version " + (floor - 1) + " ")
        .hasMessageContaining("expired");
    requireTold(floor, model.versions.lastKey());
  }

  @Test
  void theTableAfterARemovedOneBeginsWithNothing() {
    model.table.retract(model.table.latest().commitId());
    ModelTable next = new ModelTable(storage, random, 3);
    long first = next.versions.firstKey();
    assertThat(first).isEqualTo(2);
    assertThat(changes.net(1, 2).records()).isEqualTo(next.differences(-1, 2));
    assertThatThrownBy(() -> changes.net(0, 2))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining("version 1 ");
  }

  @Test
  void aTaskCanTakeWhatIsTold() throws IOException, ClassNotFoundException {
    model.change(List.of(1), List.of(3, 4));
    NetChanges net = changes.net(0, 1);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(net);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      assertThat(in.readObject()).isEqualTo(net);
    }
  }
}
