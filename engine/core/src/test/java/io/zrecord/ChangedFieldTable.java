package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.findings.Finding;
import io.zrecord.inspect.DatasetInspection;
import io.zrecord.inspect.DatasetUsage;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.values.ValueBytes;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.verify.DatasetCheck;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * A table of one kind of field and two others, with each kind of patch, and the records that it
 * must have.
 */
abstract class ChangedFieldTable {
  static final int FIRST_SHARD = 150;
  static final int SECOND_SHARD = 20;
  static final byte[] LACKING = "lacking".getBytes(StandardCharsets.UTF_8);
  static final WriteOptions OPTIONS = WriteOptions.defaults()
      .withDurability(Durability.NONE)
      .withBlockBytes(4096)
      .withStripeBytes(64 << 10);
  static final NestedType TURNS = NestedType.listOf(new NestedType.StructOf(List.of(
      new NestedType.Member("role", NestedType.of(ElementType.UTF8)),
      new NestedType.Member("tokens", NestedType.listOf(NestedType.of(ElementType.I32))))));
  static final NestedType PERSON = new NestedType.StructOf(
      List.of(new NestedType.Member("name", NestedType.of(ElementType.UTF8))));
  static final NestedType COUNTS =
      NestedType.mapOf(NestedType.of(ElementType.UTF8), NestedType.of(ElementType.I32));
  static final FieldRules NEVER_ABSENT = FieldRules.NONE.withNullable(false);

  /** A kind of field. */
  enum Kind {
    FIXED(ElementType.I64, Shape.scalar(), "raw"),
    TENSOR(ElementType.U8, Shape.of(4, 4), "raw"),
    TEXT(ElementType.UTF8, Shape.scalar(), "raw"),
    LISTS(ElementType.I16, Shape.of(-1), "raw"),
    FIXED_IN_BLOCKS(ElementType.I32, Shape.scalar(), "lz4"),
    TEXT_IN_BLOCKS(ElementType.UTF8, Shape.scalar(), "zstd"),
    NESTED(ElementType.nested(TURNS), Shape.scalar(), "lz4"),
    NEVER_ABSENT_FIXED(ElementType.I64, Shape.scalar(), "raw"),
    NEVER_ABSENT_TEXT(ElementType.UTF8, Shape.scalar(), "zstd"),
    NEVER_ABSENT_LIST(ElementType.nested(TURNS), Shape.scalar(), "lz4"),
    NEVER_ABSENT_MAP(ElementType.nested(COUNTS), Shape.scalar(), "raw"),
    NEVER_ABSENT_STRUCT(ElementType.nested(PERSON), Shape.scalar(), "raw"),
    PROMOTED(ElementType.I32, Shape.scalar(), "raw"),
    OTHER(ElementType.I32, Shape.scalar(), "raw"),
    OTHER_TEXT(ElementType.UTF8, Shape.scalar(), "raw"),
    /** Both shards lack the field: its values are the initial default, and those of the patch. */
    LACKING(ElementType.UTF8, Shape.scalar(), "raw");

    final FieldSpec spec;

    Kind(ElementType type, Shape shape, String codec) {
      FieldSpec field = new FieldSpec(1, name(), type, shape, Compression.parse(codec));
      this.spec = name().startsWith("NEVER") ? field.withRules(NEVER_ABSENT) : field;
    }

    /** Returns this kind, and two others whose values changes of records give beside it. */
    List<Kind> withOthers() {
      return List.of(this == OTHER ? FIXED : OTHER, this == OTHER_TEXT ? TEXT : OTHER_TEXT, this);
    }
  }

  /** What changes of records did before. */
  enum Changes {
    DELETIONS(true, 0, false),
    OF_FIELD(false, 30, false),
    OF_OTHERS(false, 0, true),
    OF_BOTH(false, 30, true),
    ALL_OF_FIELD(false, FIRST_SHARD, false),
    DELETIONS_AND_FIELD(true, 30, false),
    DELETIONS_AND_OTHERS(true, 0, true),
    EVERYTHING(true, FIRST_SHARD, true);

    final boolean deletes;
    final int valuesOfField;
    final boolean changesOthers;

    Changes(boolean deletes, int valuesOfField, boolean changesOthers) {
      this.deletes = deletes;
      this.valuesOfField = valuesOfField;
      this.changesOthers = changesOthers;
    }
  }

  final Random random = Budget.random();

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  Path path;
  Storage storage;
  RecordTable table;
  List<Kind> kinds = List.of();
  List<byte[][]> records = new ArrayList<>();

  @AfterEach
  void forgetShards() {
    OpenShards.shared().clear();
  }

  void write(String name) {
    path = directory.resolve(name);
    storage = LocalStorage.at(path);
    table = RecordTable.at(storage);
    records = new ArrayList<>();
    List<Kind> written = kinds.stream().filter(kind -> kind != Kind.LACKING).toList();
    List<FieldSpec> fields = new ArrayList<>();
    for (Kind kind : written) {
      fields.add(kind.spec.withId(fields.size() + 1));
    }
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), new RecordSchema(fields), OPTIONS)) {
      for (int count : new int[] {FIRST_SHARD, SECOND_SHARD}) {
        RecordAppender appender = writer.newAppender();
        for (int i = 0; i < count; i++) {
          byte[][] record = new byte[kinds.size()][];
          record[kinds.size() - 1] = LACKING;
          for (int k = 0; k < written.size(); k++) {
            record[k] = value(written.get(k).spec);
            appender.set(written.get(k).name(), record[k]);
          }
          appender.endRecord();
          records.add(record);
        }
      }
      writer.commit();
    }
    if (kinds.contains(Kind.LACKING)) {
      table.addFields(List.of(Kind.LACKING.spec.withRules(FieldRules.NONE.withInitial(LACKING))));
    }
  }

  byte @Nullable [] value(FieldSpec field) {
    if (field.rules().isNullable() && random.nextInt(6) == 0) {
      return null;
    }
    if (TURNS.equals(field.type().tree())) {
      return ValueBytes.of(
          field, List.of(Map.of("role", "r" + random.nextInt(9), "tokens", List.of(1, 2))));
    }
    if (COUNTS.equals(field.type().tree())) {
      return ValueBytes.of(field, Map.of("k" + random.nextInt(9), random.nextInt()));
    }
    if (PERSON.equals(field.type().tree())) {
      return ValueBytes.of(field, Map.of("name", "n" + random.nextInt(1000)));
    }
    byte[] value = new byte[field.valueWidthBytes().orElseGet(() -> 2 * random.nextInt(40))];
    for (int i = 0; i < value.length; i++) {
      value[i] = (byte) ('a' + random.nextInt(20));
    }
    return value;
  }

  void change(Changes changes, Kind kind) {
    RowChange change = RowChange.of(table.latest());
    int length = (int) table.latest().shards().get(0).length();
    Set<Integer> deleted = new HashSet<>();
    if (changes.deletes) {
      deleted.addAll(List.of(0, length / 3, length - 1));
    }
    for (int i = 0; i < length; i++) {
      if (deleted.contains(i)) {
        change.delete(i);
        continue;
      }
      if (changes.valuesOfField > random.nextInt(FIRST_SHARD)) {
        update(change, i, kind);
      }
      if (changes.changesOthers && i % 7 == 3) {
        update(change, i, kinds.get(0));
        update(change, i, kinds.get(1));
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

  void update(RowChange change, int index, Kind kind) {
    byte[] value = value(current(kind));
    change.update(index, kind.name(), value);
    set(index, kind, value);
  }

  FieldSpec current(Kind kind) {
    return table.latest().schema().find(kind.name()).orElseThrow();
  }

  void set(int index, Kind kind, byte @Nullable [] value) {
    byte[][] changed = records.get(index).clone();
    changed[kinds.indexOf(kind)] = value;
    records.set(index, changed);
  }

  void promote() {
    table.promoteField(Kind.PROMOTED.name(), ElementType.I64);
    promote(Kind.PROMOTED);
  }

  /** Makes the values of a field that was promoted 8 bytes long. */
  void promote(Kind kind) {
    for (int i = 0; i < records.size(); i++) {
      byte[] narrow = records.get(i)[kinds.indexOf(kind)];
      if (narrow != null) {
        long wide = ByteBuffer.wrap(narrow).order(ByteOrder.LITTLE_ENDIAN).getInt();
        set(
            i,
            kind,
            ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(wide).array());
      }
    }
  }

  void rebalance() {
    TableRebalance.of(RebalancePlan.of(
            table.latest(), RebalanceOptions.defaults().withAllShards().withWrite(OPTIONS)))
        .threads(1)
        .run();
  }

  /** Compares the newest version as a storage gives it, and inspects it. */
  void requireEqual(String what, Storage seen) {
    OpenShards.shared().clear();
    TableSnapshot latest = RecordTable.at(seen).latest();
    requireEqual(latest, SampleData.of(latest.schema(), records));
    DatasetUsage usage = DatasetInspection.of(latest).run(shard -> {});
    for (int k = 0; k < kinds.size(); k++) {
      int field = k;
      assertThat(usage.fields().get(k).absentCount())
          .as(what + " " + kinds.get(k))
          .isEqualTo(records.stream().filter(record -> record[field] == null).count());
    }
  }

  static void requireEqual(TableSnapshot snapshot, SampleData expected) {
    try (RecordDataset dataset = RecordDataset.open(snapshot, ReadOptions.defaults())) {
      RoundTripTest.requireEqual(dataset, expected, false, Budget.seed());
    }
  }

  void requireSound(String what) {
    List<Finding> findings = new ArrayList<>();
    assertThat(DatasetCheck.of(path.toString()).allVersions().run(findings::add).isSound())
        .as(what + " " + findings)
        .isTrue();
    assertThat(findings).as(what).isEmpty();
  }
}
