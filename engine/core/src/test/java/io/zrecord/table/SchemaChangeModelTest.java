package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.read.FieldReader;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.Compression;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.Budget;
import io.zrecord.verify.DatasetCheck;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random changes of fields and declarations, some planned before other commits, against a list of
 * columns by their numbers: each version reads as the list was.
 */
final class SchemaChangeModelTest {
  private static final int ROUNDS = Math.max(10, Budget.of(60));
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);

  private final Random random = Budget.random();

  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;

  /** A field of the list, and the bytes of a number in it. */
  private record Column(int id, String name, int width) {}

  private record Version(
      List<Column> columns, List<String> keys, Map<Integer, List<Long>> values) {}

  private List<Column> columns = new ArrayList<>();
  private List<String> keys = new ArrayList<>();
  private Map<Integer, List<Long>> values = new HashMap<>();
  private int nextId = 1;
  private int edits;
  private int conflicts;

  @Test
  void eachVersionHasTheColumnsAndTheValuesOfTheList() {
    int changes = 0;
    int round = 0;
    // More, at most a hundred, until others came first once.
    for (; round < ROUNDS || (conflicts == 0 && round < ROUNDS + 100); round++) {
      create(round);
      Map<Long, Version> versions = new LinkedHashMap<>();
      for (int step = 0; step < 12; step++) {
        step();
        versions.put(
            table.latest().version(),
            new Version(List.copyOf(columns), List.copyOf(keys), copyOfValues()));
      }
      changes += versions.size();
      versions.forEach((number, version) -> check(table.version(number), version));
      assertThat(DatasetCheck.of(directory.resolve("t" + round).toString())
              .allVersions()
              .run(finding -> {})
              .isSound())
          .isTrue();
    }
    System.out.printf(
        "%d rounds: %d versions, %d edits, %d conflicts%n", round, changes, edits, conflicts);
    assertThat(edits).isGreaterThan(changes);
    assertThat(conflicts).isPositive();
  }

  private void create(int round) {
    storage = LocalStorage.at(directory.resolve("t" + round));
    table = RecordTable.at(storage);
    columns = new ArrayList<>();
    keys = new ArrayList<>();
    values = new HashMap<>();
    RecordSchema schema = new RecordSchema(LongStream.rangeClosed(1, 3)
        .mapToObj(id -> field("f" + id, ElementType.I32).withId((int) id))
        .toList());
    for (FieldSpec field : schema.fields()) {
      columns.add(new Column(field.id(), field.name(), 4));
      values.put(field.id(), new ArrayList<>());
    }
    nextId = 4;
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(storage, schema, OPTIONS)) {
      write(writer);
    }
  }

  private static FieldSpec field(String name, ElementType type) {
    return new FieldSpec(1, name, type, Shape.scalar(), Compression.RAW);
  }

  private void write(RecordDatasetWriter writer) {
    for (int shard = 0; shard < 2; shard++) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < 3; i++) {
        for (Column column : columns) {
          int value = random.nextInt(1000);
          values.get(column.id).add((long) value);
          records.set(column.name, column.width == 4 ? (Object) value : (Object) (long) value);
        }
        records.endRecord();
      }
    }
    writer.commit();
  }

  private Map<Integer, List<Long>> copyOfValues() {
    Map<Integer, List<Long>> copy = new HashMap<>();
    columns.forEach(column -> copy.put(column.id, List.copyOf(values.get(column.id))));
    return copy;
  }

  private void step() {
    switch (random.nextInt(6)) {
      case 0 -> append();
      case 1 ->
        TableRebalance.of(RebalancePlan.of(
                table.latest(), RebalanceOptions.defaults().withWrite(OPTIONS).withAllShards()))
            .threads(1)
            .run();
      case 2 -> update();
      default -> change();
    }
  }

  private void append() {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(storage, table.latest().schema(), OPTIONS)) {
      write(writer);
    }
  }

  private void update() {
    Column column = columns.get(random.nextInt(columns.size()));
    int index = random.nextInt((int) table.latest().length());
    int value = random.nextInt(1000);
    RowChange change = RowChange.of(table.latest());
    change.update(index, column.name, column.width == 4 ? (Object) value : (Object) (long) value);
    change.commit();
    values.get(column.id).set(index, (long) value);
  }

  /** Edits a list beside a change. Another commit may come between the plan and the commit. */
  private void change() {
    List<Column> planned = new ArrayList<>(columns);
    List<String> plannedKeys = new ArrayList<>(keys);
    Map<Integer, Long> initials = new HashMap<>();
    SchemaChange change = SchemaChange.of(table.latest());
    int firstNew = nextId;
    int next = firstNew;
    for (int i = random.nextInt(6); i >= 0; i--) {
      edits++;
      Column column = planned.get(random.nextInt(planned.size()));
      int at = planned.indexOf(column);
      switch (random.nextInt(6)) {
        case 0 -> {
          long initial = random.nextInt(1000);
          FieldSpec field = field("n" + next, ElementType.I64)
              .withRules(FieldRules.NONE.withInitial(bytes(initial)));
          int place = random.nextInt(planned.size() + 1);
          change.add(field, place(planned, place));
          planned.add(place, new Column(next, field.name(), 8));
          initials.put(next++, initial);
        }
        case 1 -> {
          if (planned.size() > 1) {
            String key = "key" + column.id;
            if (plannedKeys.remove(key)) {
              assertThat(isRefused(() -> change.drop(column.name))).isTrue();
              change.declare(declarations -> declarations.drop(key));
            }
            change.drop(column.name);
            planned.remove(column);
          }
        }
        case 2 -> {
          String name = "r" + random.nextInt(4);
          boolean isTaken = planned.stream().anyMatch(other -> other.name.equals(name));
          if (isRefused(() -> change.rename(column.name, name))) {
            assertThat(isTaken).isTrue();
          } else {
            planned.set(at, new Column(column.id, name, column.width));
          }
        }
        case 3 -> {
          change.promote(column.name, ElementType.I64);
          planned.set(at, new Column(column.id, column.name, 8));
        }
        case 4 -> {
          planned.remove(column);
          int place = random.nextInt(planned.size() + 1);
          change.move(column.name, place(planned, place));
          planned.add(place, column);
        }
        default -> {
          String key = "key" + column.id;
          if (!plannedKeys.contains(key)) {
            change.declare(
                declarations -> declarations.add(Constraint.unique(key, List.of(column.id))));
            plannedKeys.add(key);
          }
        }
      }
    }
    boolean isOther = random.nextInt(5) == 0;
    boolean isSame = change.keepsFields();
    if (isOther) {
      Column renamed = columns.get(random.nextInt(columns.size()));
      table.renameField(renamed.name, "o" + renamed.id + edits);
      columns.set(
          columns.indexOf(renamed),
          new Column(renamed.id, "o" + renamed.id + edits, renamed.width));
    } else if (random.nextInt(3) == 0) {
      update();
    } else if (random.nextInt(3) == 0) {
      append();
    }
    try {
      change.commit();
    } catch (CommitConflictException e) {
      assertThat(isOther).isTrue();
      conflicts++;
      return;
    }
    keys = plannedKeys;
    if (isSame) {
      return;
    }
    assertThat(isOther).isFalse();
    columns = planned;
    int length = (int) table.latest().length();
    for (Column column : columns) {
      values.computeIfAbsent(
          column.id, id -> new ArrayList<>(Collections.nCopies(length, initials.get(id))));
      nextId = Math.max(nextId, column.id + 1);
    }
  }

  private static boolean isRefused(Runnable edit) {
    try {
      edit.run();
      return false;
    } catch (SchemaMismatchException e) {
      return true;
    }
  }

  private static FieldPlace place(List<Column> others, int place) {
    return place == 0
        ? FieldPlace.first()
        : place == others.size() ? FieldPlace.last() : FieldPlace.after(others.get(place - 1).name);
  }

  private static byte[] bytes(long value) {
    return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
  }

  private static void check(TableSnapshot found, Version version) {
    assertThat(found.schema().fields().stream()
            .map(field ->
                new Column(field.id(), field.name(), field.type().widthBytes().orElseThrow()))
            .toList())
        .isEqualTo(version.columns);
    assertThat(found.declarations().constraints().stream().map(Constraint::name))
        .containsExactlyInAnyOrderElementsOf(version.keys);
    try (RecordDataset dataset = RecordDataset.open(found, RecordDataset.ReadOptions.defaults())) {
      for (Column column : version.columns) {
        FieldReader reader = dataset.reader(column.name);
        List<Long> read = new ArrayList<>();
        for (long i = 0; i < found.length(); i++) {
          reader.select(new long[] {i}, 0, 1);
          ByteBuffer value = ByteBuffer.wrap(reader.value(0)).order(ByteOrder.LITTLE_ENDIAN);
          read.add(column.width == 4 ? value.getInt() : value.getLong());
        }
        assertThat(read).as(column + " of " + found).isEqualTo(version.values.get(column.id));
      }
    }
  }
}
