package io.zrecord.table;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.RecordMoves;
import io.zrecord.changes.TableChanges;
import io.zrecord.findings.Finding;
import io.zrecord.read.FieldReader;
import io.zrecord.read.IndexSet;
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
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Changes of so many values that the field goes to tables of its own, on tables of each layout, and
 * moves of records to other partitions. Storages extend this.
 */
public abstract class WideLayouts {
  /** Records of the first shard: one for each of more tasks than a patch may have chunks. */
  private static final int FIRST = 80;

  private static final int SECOND = 10;
  private static final int DELETED = 7;
  private static final ElementType TURNS =
      ElementType.nested(NestedType.listOf(new NestedType.StructOf(
          List.of(new NestedType.Member("role", NestedType.of(ElementType.UTF8))))));

  private Storage storage;
  private RecordTable table;

  /** Returns a storage without files. */
  protected abstract Storage emptyStorage() throws IOException;

  @BeforeEach
  void open() throws IOException {
    storage = emptyStorage();
    table = RecordTable.at(storage);
  }

  /** How the field {@code value} is stored. */
  enum Layout {
    PLAIN(ElementType.UTF8),
    NESTED(TURNS),
    /** A change before has given values to some records, and deleted one. */
    PATCHED(ElementType.UTF8),
    NESTED_AND_PATCHED(TURNS),
    /** The first shard lacks the field. */
    LACKING(ElementType.UTF8),
    /** The tables have a narrower type. */
    PROMOTED(ElementType.I32),
    /** The tables and a patch have a narrower type. */
    PROMOTED_AND_PATCHED(ElementType.I32);

    private final ElementType type;

    Layout(ElementType type) {
      this.type = type;
    }

    boolean isPatched() {
      return name().endsWith("PATCHED");
    }

    Object value(long number) {
      if (type.equals(TURNS)) {
        return List.of(Map.of("role", "role " + number), Map.of());
      }
      return type.equals(ElementType.I32) ? (Object) (int) -number : "text " + number;
    }
  }

  private void create(Layout layout) {
    boolean lacks = layout == Layout.LACKING;
    write(lacks ? null : layout, 0, FIRST);
    if (lacks) {
      FieldSpec field = new FieldSpec(1, "value", layout.type, Shape.scalar(), Compression.RAW);
      byte[] initial = "initial".getBytes(UTF_8);
      table.addFields(List.of(field.withRules(FieldRules.NONE.withInitial(initial))));
    }
    write(layout, FIRST, FIRST + SECOND);
    if (layout.isPatched()) {
      RowChange change = RowChange.of(table.latest());
      for (int index = 0; index < FIRST; index += 6) {
        change.update(index, "value", layout.value(1000 + index));
      }
      change.delete(DELETED - 1);
      change.commit();
    }
    if (layout.type.equals(ElementType.I32)) {
      table.promoteField("value", ElementType.I64);
    }
  }

  private void write(@Nullable Layout layout, long from, long to) {
    RecordSchema.Builder schema = RecordSchema.builder().field("number", ElementType.I64);
    if (layout != null) {
      schema.field("value", layout.type);
    }
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(storage, schema.build(), CarriedLayout.WRITE)) {
      RecordAppender records = writer.newAppender();
      for (long number = from; number < to; number++) {
        records.set("number", number);
        if (layout != null) {
          records.set("value", layout.value(number));
        }
        records.endRecord();
      }
      writer.commit();
    }
  }

  private SortedMap<Long, String> read(TableSnapshot version) {
    SortedMap<Long, String> values = new TreeMap<>();
    try (RecordDataset dataset =
        RecordDataset.open(version, RecordDataset.ReadOptions.defaults())) {
      int length = (int) dataset.length();
      FieldReader numbers = dataset.reader("number");
      FieldReader texts = dataset.reader("value");
      numbers.select(LongStream.range(0, length).toArray(), 0, length);
      texts.select(LongStream.range(0, length).toArray(), 0, length);
      for (int i = 0; i < length; i++) {
        long number =
            ByteBuffer.wrap(numbers.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong();
        values.put(number, texts.isAbsent(i) ? "absent" : new String(texts.value(i), ISO_8859_1));
      }
    }
    return values;
  }

  /** Gives each record of the first shard a value of the second, or none, and deletes one. */
  private TableSnapshot changeWidely(Layout layout, SortedMap<Long, String> records) {
    TableSnapshot base = table.latest();
    ShardSummary shard = base.shards().get(0);
    List<Long> numbers = List.copyOf(records.keySet());
    MergeChange merge = MergeChange.of(base);
    for (int index = 0; index < shard.length(); index++) {
      long number = numbers.get(index);
      try (ShardChangeWriter writer =
          ShardChangeWriter.open(storage, ChangeBase.of(base), shard, Set.of("value"))) {
        if (index == DELETED) {
          writer.delete(index);
          records.remove(number);
        } else if (index % 10 == 4) {
          writer.update(index, "value", null);
          records.put(number, "absent");
        } else {
          long as = FIRST + (long) index % SECOND;
          Object value = layout.value(as);
          writer.update(
              index, "value", value instanceof Integer narrow ? narrow.longValue() : value);
          records.put(number, records.get(as));
        }
        merge.change(writer.finish());
      }
    }
    return merge.commit();
  }

  @ParameterizedTest
  @EnumSource
  void manyValuesGoToTablesOfTheirField(Layout layout) {
    create(layout);
    TableSnapshot base = table.latest();
    ShardSummary before = base.shards().get(0);
    SortedMap<Long, String> old = read(base);
    SortedMap<Long, String> records = new TreeMap<>(old);
    TableSnapshot after = changeWidely(layout, records);
    assertThat(read(table.latest())).isEqualTo(records);
    ShardSummary shard = after.shards().get(0);
    assertThat(shard.id()).isEqualTo(before.id());
    Set<TablesRef> added = new HashSet<>(shard.tables());
    added.removeIf(
        file -> before.tables().stream().anyMatch(known -> known.id().equals(file.id())));
    assertThat(added)
        .singleElement()
        .satisfies(file -> assertThat(file.fieldIds()).containsExactly(2));
    requireTold(after.version(), before.length());
    RowChange narrow = RowChange.of(after);
    narrow.delete(0);
    narrow.update(1, "value", null);
    narrow.commit();
    List<Long> numbers = List.copyOf(records.keySet());
    records.remove(numbers.get(0));
    records.put(numbers.get(1), "absent");
    assertThat(read(table.latest())).isEqualTo(records);
    rebalance();
    assertThat(read(table.latest())).isEqualTo(records);
    assertThat(read(table.version(base.version()))).isEqualTo(old);
    requireSound();
  }

  private void requireTold(long version, long length) {
    RecordChanges told = TableChanges.of(storage).net(version - 1, version).records();
    IndexSet deleted = IndexSet.of(DELETED);
    assertThat(told.inserted().isEmpty()).isTrue();
    assertThat(told.deleted()).isEqualTo(deleted);
    assertThat(told.changedBefore()).isEqualTo(IndexSet.range(0, length).minus(deleted));
    assertThat(told.fields()).containsOnlyKeys(2);
  }

  private void rebalance() {
    RebalancePlan plan = RebalancePlan.of(
        table.latest(), RebalanceOptions.defaults().withAllShards().withWrite(CarriedLayout.WRITE));
    assertThat(TableRebalance.of(plan).threads(1).run().failures()).isEmpty();
  }

  private void requireSound() {
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(storage).allVersions().run(findings::add);
    assertThat(findings).isEmpty();
  }

  @Test
  void recordsThatAreMovedTwiceArePairedUnlessARebalanceCameBetween() {
    table.commit(PartitionedRecords.create(List.of(
        PartitionedRecords.shard(storage, Durability.NONE, "a", 1, 2, 3),
        PartitionedRecords.shard(storage, Durability.NONE, "b", 4, 5))));
    move("c", 3, 4);
    requirePaired(3, 4);
    MergeChange late = PartitionedRecords.moving(table.latest(), Durability.NONE, "e", 1);
    move("d", 4);
    requirePaired(4);
    rebalance();
    late.commit();
    requirePaired();
    assertThat(PartitionedRecords.kinds(table.latest()))
        .isEqualTo(Map.of(1L, "e", 2L, "a", 3L, "c", 4L, "d", 5L, "b"));
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(storage).allVersions().run(findings::add);
    // What a carried change has written first is left to a sweep.
    assertThat(findings).allMatch(finding -> finding.file().endsWith(".patch"));
  }

  private void move(String kind, long... numbers) {
    PartitionedRecords.moving(table.latest(), Durability.NONE, kind, numbers).commit();
  }

  private void requirePaired(long... numbers) {
    TableSnapshot latest = table.latest();
    List<Long> before = PartitionedRecords.numbers(table.version(latest.version() - 1));
    List<Long> after = PartitionedRecords.numbers(latest);
    RecordMoves moves = TableChanges.of(storage).of(latest.version()).moves(storage);
    Set<Long> found = new HashSet<>();
    for (int i = 0; i < moves.count(); i++) {
      long number = after.get((int) moves.after(i));
      assertThat(before.get((int) moves.before(i))).isEqualTo(number);
      found.add(number);
    }
    assertThat(found).isEqualTo(Set.copyOf(LongStream.of(numbers).boxed().toList()));
  }
}
