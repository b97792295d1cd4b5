package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.findings.Finding;
import io.zrecord.inspect.DatasetInspection;
import io.zrecord.inspect.DatasetUsage;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.layout.SlotsOfCommit;
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
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.UnmappedStorage;
import io.zrecord.verify.DatasetCheck;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Each kind of field is rewritten in a shard with each kind of patch: the field has the new values,
 * all else is as it was, however it is read and whatever is done to the table next.
 */
final class RewrittenFieldTest {
  private static final int FIRST_SHARD = 150;
  private static final int SECOND_SHARD = 20;
  private static final int PROMOTED_ID = 11;
  private static final WriteOptions OPTIONS = WriteOptions.defaults()
      .withDurability(Durability.NONE)
      .withBlockBytes(4096)
      .withStripeBytes(64 << 10);
  private static final NestedType TURNS = NestedType.listOf(new NestedType.StructOf(List.of(
      new NestedType.Member("role", NestedType.of(ElementType.UTF8)),
      new NestedType.Member("tokens", NestedType.listOf(NestedType.of(ElementType.I32))))));
  private static final NestedType PERSON = new NestedType.StructOf(
      List.of(new NestedType.Member("name", NestedType.of(ElementType.UTF8))));
  private static final FieldRules NEVER_ABSENT = FieldRules.NONE.withNullable(false);

  /** A kind of field. */
  enum Kind {
    FIXED(1, ElementType.I64, Shape.scalar(), "raw"),
    TENSOR(2, ElementType.U8, Shape.of(4, 4), "raw"),
    TEXT(3, ElementType.UTF8, Shape.scalar(), "raw"),
    LISTS(4, ElementType.I16, Shape.of(-1), "raw"),
    FIXED_IN_BLOCKS(5, ElementType.I32, Shape.scalar(), "lz4"),
    TEXT_IN_BLOCKS(6, ElementType.UTF8, Shape.scalar(), "zstd"),
    NESTED(7, ElementType.nested(TURNS), Shape.scalar(), "lz4"),
    NEVER_ABSENT_FIXED(8, ElementType.I64, Shape.scalar(), "raw"),
    NEVER_ABSENT_TEXT(9, ElementType.UTF8, Shape.scalar(), "zstd"),
    NEVER_ABSENT_NESTED(10, ElementType.nested(PERSON), Shape.scalar(), "raw"),
    PROMOTED(PROMOTED_ID, ElementType.I32, Shape.scalar(), "raw"),
    OTHER(12, ElementType.I32, Shape.scalar(), "raw"),
    OTHER_TEXT(13, ElementType.UTF8, Shape.scalar(), "raw"),
    /** Both shards lack the field: its values are the initial default, and those of the patch. */
    LACKING(14, ElementType.UTF8, Shape.scalar(), "raw");

    final FieldSpec spec;

    Kind(int id, ElementType type, Shape shape, String codec) {
      FieldSpec field = new FieldSpec(id, name(), type, shape, Compression.parse(codec));
      this.spec = name().startsWith("NEVER") ? field.withRules(NEVER_ABSENT) : field;
    }

    boolean isOther() {
      return this == OTHER || this == OTHER_TEXT;
    }
  }

  /** What changes of records did before. */
  private enum Changes {
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

  private final Random random = Budget.random();

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  private Path path;
  private Storage storage;
  private RecordTable table;
  private List<byte[][]> records = new ArrayList<>();
  private final Map<Long, SampleData> versions = new HashMap<>();

  @AfterEach
  void forgetShards() {
    OpenShards.shared().clear();
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void aFieldHasItsNewValuesAndAllElseStays(Kind kind) {
    for (Changes changes : Changes.values()) {
      write(changes.name());
      change(changes, kind);
      change(changes, kind);
      if (kind == Kind.PROMOTED) {
        promote();
      }
      ShardSummary before = table.latest().shards().get(0);
      rewrite(kind, random.nextBoolean() ? List.of(0) : List.of(0, 1));
      String what = changes + " of " + kind + ", seed " + Budget.seed();
      requireRewritten(before, changes, kind, what);
      requireEqual(what);
      change(changes, kind);
      requireEqual(what);
      rebalance();
      assertThat(table.latest().shards()).allMatch(shard -> shard.patch() == null);
      requireEqual(what);
      requireSound(what);
    }
  }

  private void write(String name) {
    path = directory.resolve(name);
    storage = LocalStorage.at(path);
    table = RecordTable.at(storage);
    records = new ArrayList<>();
    versions.clear();
    List<FieldSpec> fields = Stream.of(Kind.values())
        .filter(kind -> kind != Kind.LACKING)
        .map(kind -> kind.spec)
        .toList();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), new RecordSchema(fields), OPTIONS)) {
      for (int count : new int[] {FIRST_SHARD, SECOND_SHARD}) {
        RecordAppender appender = writer.newAppender();
        for (int i = 0; i < count; i++) {
          byte[][] record = new byte[Kind.values().length][];
          for (FieldSpec field : fields) {
            record[field.id() - 1] = value(field);
            appender.set(field.name(), record[field.id() - 1]);
          }
          record[Kind.LACKING.ordinal()] = "lacking".getBytes(StandardCharsets.UTF_8);
          appender.endRecord();
          records.add(record);
        }
      }
      writer.commit();
    }
    table.addFields(List.of(Kind.LACKING.spec.withRules(
        FieldRules.NONE.withInitial("lacking".getBytes(StandardCharsets.UTF_8)))));
  }

  private byte @Nullable [] value(FieldSpec field) {
    if (field.rules().isNullable() && random.nextInt(6) == 0) {
      return null;
    }
    if (field.type().tree() == TURNS) {
      return ValueBytes.of(
          field, List.of(Map.of("role", "r" + random.nextInt(9), "tokens", List.of(1, 2))));
    }
    if (field.type().tree() == PERSON) {
      return ValueBytes.of(field, Map.of("name", "n" + random.nextInt(1000)));
    }
    byte[] value =
        new byte[field.valueWidthBytes().orElseGet(() -> 2 * random.nextInt(40))];
    for (int i = 0; i < value.length; i++) {
      value[i] = (byte) ('a' + random.nextInt(20));
    }
    return value;
  }

  private void change(Changes changes, Kind kind) {
    RowChange change = RowChange.of(table.latest());
    int length = (int) (long) table.latest().shards().get(0).length();
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
        update(change, i, kind == Kind.OTHER ? Kind.FIXED : Kind.OTHER);
        update(change, i, kind == Kind.OTHER_TEXT ? Kind.TEXT : Kind.OTHER_TEXT);
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

  private void update(RowChange change, int index, Kind kind) {
    byte[] value = value(current(kind));
    change.update(index, kind.name(), value);
    set(index, kind, value);
  }

  private FieldSpec current(Kind kind) {
    return table.latest().schema().find(kind.name()).orElseThrow();
  }

  private void set(int index, Kind kind, byte @Nullable [] value) {
    byte[][] changed = records.get(index).clone();
    changed[kind.ordinal()] = value;
    records.set(index, changed);
  }

  private void promote() {
    table.promoteField(Kind.PROMOTED.name(), ElementType.I64);
    for (int i = 0; i < records.size(); i++) {
      byte[] narrow = records.get(i)[Kind.PROMOTED.ordinal()];
      if (narrow != null) {
        long wide = ByteBuffer.wrap(narrow).order(ByteOrder.LITTLE_ENDIAN).getInt();
        set(
            i,
            Kind.PROMOTED,
            ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(wide).array());
      }
    }
  }

  private void rewrite(Kind kind, List<Integer> shards) {
    TableSnapshot base = table.latest();
    versions.put(base.version(), model(base));
    try (RecordFieldsWriter writer =
        RecordFieldsWriter.rewrite(table, Set.of(kind.name()), OPTIONS)) {
      for (int shard : shards) {
        RecordAppender appender = writer.newAppender(shard);
        for (long i = base.firstIndex(shard); i < base.firstIndex(shard + 1); i++) {
          byte[] value = value(current(kind));
          appender.set(kind.name(), value).endRecord();
          set((int) i, kind, value);
        }
      }
      writer.commit();
    }
  }

  private static SampleData model(TableSnapshot snapshot, List<byte[][]> records) {
    return SampleData.of(snapshot.schema(), records);
  }

  private SampleData model(TableSnapshot snapshot) {
    return model(snapshot, records);
  }

  /** Requires that the patch has all that it had but values of the field, and says so. */
  private void requireRewritten(
      ShardSummary before, Changes changes, Kind kind, String what) {
    ShardSummary after = table.latest().shards().get(0);
    PatchRef ref = after.patch();
    boolean hadField = changes.valuesOfField > 0;
    if (!hadField) {
      assertThat(ref).as(what).isEqualTo(before.patch());
    } else if (!changes.deletes && !changes.changesOthers) {
      assertThat(ref).as(what).isNull();
    } else {
      PatchFile patch = OpenShards.unshared(storage, after).patch();
      PatchFile old = OpenShards.unshared(storage, before).patch();
      assertThat(patch.json().hasField(kind.spec.id())).as(what).isFalse();
      Set<Integer> kept = new HashSet<>(old.json().fields().keySet());
      kept.remove(kind.spec.id());
      assertThat(patch.json().fields().keySet()).as(what).isEqualTo(kept);
      SlotsOfCommit slots = patch.slotsOfCommit().orElseThrow();
      assertThat(slots.before()).as(what).isEqualTo(Optional.of(old.json().fileId()));
      assertThat(slots.deleted()).as(what).isNull();
      assertThat(slots.fields()).as(what).isEmpty();
    }
    Set<UUID> needed = new HashSet<>();
    for (TablesRef tables : after.tables()) {
      needed.addAll(TablesFile.open(storage, after, tables, bytes -> {})
          .usedChunks(tables.fieldIds()));
    }
    PatchFile patch = OpenShards.unshared(storage, after).patch();
    if (patch != null) {
      patch.json().chunks().forEach(chunk -> needed.add(chunk.id()));
    }
    assertThat(after.chunks().stream().map(ChunkFile::id))
        .as(what)
        .containsExactlyInAnyOrderElementsOf(needed);
    assertThat(after.length()).isEqualTo(before.length());
    assertThat(after.slots()).isEqualTo(before.slots());
  }

  private void rebalance() {
    TableRebalance.of(RebalancePlan.of(
            table.latest(), RebalanceOptions.defaults().withAllShards().withWrite(OPTIONS)))
        .threads(1)
        .run();
  }

  /** Compares the newest version and the one before the rewriting, and inspects and checks both. */
  private void requireEqual(String what) {
    TableSnapshot latest = table.latest();
    versions.put(latest.version(), model(latest));
    OpenShards.shared().clear();
    RecordTable remote = RecordTable.at(new UnmappedStorage(storage, 1 << 12));
    versions.forEach((version, expected) -> {
      try (RecordDataset local =
              RecordDataset.open(table.version(version), ReadOptions.defaults());
          RecordDataset other =
              RecordDataset.open(remote.version(version), ReadOptions.defaults())) {
        RoundTripTest.requireEqual(local, expected, false, Budget.seed());
        RoundTripTest.requireEqual(other, expected, false, Budget.seed());
      }
    });
    DatasetUsage usage = DatasetInspection.of(latest).run(shard -> {});
    usage.fields().forEach(field -> {
      long absent = records.stream()
          .filter(record -> record[field.field().id() - 1] == null)
          .count();
      assertThat(field.absentCount()).as(what + " " + field.field()).isEqualTo(absent);
    });
  }

  private void requireSound(String what) {
    List<Finding> findings = new ArrayList<>();
    assertThat(DatasetCheck.of(path.toString()).allVersions().run(findings::add).isSound())
        .as(what + " " + findings)
        .isTrue();
    assertThat(findings).as(what).isEmpty();
  }
}
