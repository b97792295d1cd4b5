package io.zrecord.changes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.read.FieldReader;
import io.zrecord.read.IndexSet;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.ChangeBase;
import io.zrecord.table.MergeChange;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.ShardChangeWriter;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.Budget;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a version says that it changed turns the version before into it. */
final class TableChangesTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I64)
      .field("text", ElementType.UTF8)
      .build();
  private static final WriteOptions WRITE =
      WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
  private static final int NUMBER = 1;
  private static final int TEXT = 2;

  private final Random random = Budget.random();

  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;
  private TableChanges changes;
  private long nextNumber;

  @BeforeEach
  void create() {
    storage = LocalStorage.at(directory.resolve("table"));
    table = RecordTable.at(storage);
    changes = TableChanges.of(storage);
    table.commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA)
        .shards(List.of(shard(50), shard(50), shard(50)))
        .build());
  }

  private ShardSummary shard(int count) {
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, WRITE)) {
      for (int i = 0; i < count; i++) {
        long number = nextNumber++;
        writer.putLong(0, number);
        byte[] text = ("text " + number).getBytes(StandardCharsets.UTF_8);
        writer.put(1, text, 0, text.length);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private static List<List<String>> records(TableSnapshot version) {
    try (RecordDataset dataset =
        RecordDataset.open(version, RecordDataset.ReadOptions.defaults())) {
      int length = (int) dataset.length();
      List<List<String>> records = new ArrayList<>();
      FieldReader numbers = dataset.reader("number");
      FieldReader texts = dataset.reader("text");
      long[] all = LongStream.range(0, length).toArray();
      numbers.select(all, 0, length);
      texts.select(all, 0, length);
      for (int i = 0; i < length; i++) {
        String number = numbers.isAbsent(i)
            ? "-"
            : ""
                + ByteBuffer.wrap(numbers.value(i))
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .getLong();
        String text = texts.isAbsent(i) ? "-" : new String(texts.value(i), StandardCharsets.UTF_8);
        records.add(List.of(number, text));
      }
      return records;
    }
  }

  /** Applies what a version changed to the version before, and compares. */
  private List<RecordChanges> requireTold(long version) {
    List<List<String>> after = records(table.version(version));
    List<List<String>> before = version == 0 ? List.of() : records(table.version(version - 1));
    List<RecordChanges> told =
        changes.of(version).shards().stream().map(shard -> shard.read(storage)).toList();
    List<@Nullable List<String>> applied = new ArrayList<>(before);
    TreeSet<Long> inserted = new TreeSet<>();
    for (RecordChanges of : told) {
      long[] then = indices(of.changedBefore());
      long[] now = indices(of.changedAfter());
      assertThat(now).hasSameSizeAs(then);
      for (int i = 0; i < then.length; i++) {
        List<String> record = new ArrayList<>(Objects.requireNonNull(applied.get((int) then[i])));
        for (int field : of.fields().keySet()) {
          if (of.fields().get(field).contains(then[i])) {
            record.set(field - 1, after.get((int) now[i]).get(field - 1));
          }
        }
        applied.set((int) then[i], record);
      }
      for (long index : indices(of.deleted())) {
        applied.set((int) index, null);
      }
      LongStream.of(indices(of.inserted())).forEach(inserted::add);
    }
    applied.removeIf(Objects::isNull);
    for (long index : inserted) {
      applied.add((int) index, after.get((int) index));
    }
    assertThat(applied).as("version %d", version).isEqualTo(after);
    return told;
  }

  private static long[] indices(IndexSet set) {
    LongStream.Builder all = LongStream.builder();
    for (int range = 0; range < set.rangeCount(); range++) {
      LongStream.range(set.rangeFrom(range), set.rangeTo(range)).forEach(all);
    }
    return all.build().toArray();
  }

  private RowChange change() {
    return RowChange.of(table.latest());
  }

  @Test
  void everyKindOfChangeIsTold() {
    assertThat(requireTold(0)).hasSize(3);
    RowChange first = change();
    first.delete(3);
    first.update(5, "text", "five");
    first.update(60, "number", null);
    first.update(60, "text", null);
    first.commit();
    List<RecordChanges> told = requireTold(1);
    assertThat(told).hasSize(2);
    assertThat(told.get(0).deleted()).isEqualTo(IndexSet.of(3));
    assertThat(told.get(0).changedBefore()).isEqualTo(IndexSet.of(5));
    assertThat(told.get(0).changedAfter()).isEqualTo(IndexSet.of(4));
    assertThat(told.get(0).fields().keySet()).containsExactly(TEXT);
    assertThat(told.get(1).fields().keySet()).containsExactly(NUMBER, TEXT);
    assertThat(told.get(1).changedAfter()).isEqualTo(IndexSet.of(59));
    RowChange second = change();
    second.delete(4);
    second.update(3, "text", "three");
    second.commit();
    assertThat(requireTold(2)).hasSize(1);
    table.commit(TableChange.of(TableChange.Kind.APPEND, SCHEMA)
        .base(table.latest())
        .shards(List.of(shard(7)))
        .build());
    assertThat(requireTold(3).get(0).inserted().count()).isEqualTo(7);
    table.tag(3, "kept");
    assertThat(changes.of(4).shards()).isEmpty();
    table.commit(TableChange.of(TableChange.Kind.OVERWRITE, SCHEMA)
        .base(table.latest())
        .shards(List.of(shard(9)))
        .build());
    assertThat(requireTold(5)).hasSize(5);
  }

  @Test
  void whatAnOverwriteTakesBackIsTold() {
    TableSnapshot first = table.latest();
    RowChange change = change();
    change.delete(3);
    change.update(5, "text", "five");
    change.update(60, "text", "sixty");
    change.commit();
    table.commit(TableChange.of(TableChange.Kind.OVERWRITE, SCHEMA)
        .base(table.latest())
        .shards(first.shards().subList(0, 2))
        .build());
    List<RecordChanges> told = requireTold(2);
    assertThat(told).hasSize(5);
    assertThat(told.get(1).deleted()).isEqualTo(IndexSet.range(49, 99));
    assertThat(told.get(4).inserted()).isEqualTo(IndexSet.range(50, 100));
  }

  @Test
  void aRebalanceChangesNoRecord() {
    RowChange first = change();
    first.delete(3);
    first.commit();
    TableRebalance.of(RebalancePlan.of(
            table.latest(), RebalanceOptions.defaults().withAllShards().withWrite(WRITE)))
        .run();
    for (long version = 2; version <= table.latest().version(); version++) {
      assertThat(requireTold(version)).isEmpty();
    }
  }

  @Test
  void aRebalanceThatCarriesChangesStillChangesNone() {
    RebalancePlan plan = RebalancePlan.of(
        table.latest(), RebalanceOptions.defaults().withAllShards().withWrite(WRITE));
    RowChange late = change();
    late.delete(100);
    late.update(101, "text", "late");
    RowChange first = change();
    first.delete(3);
    first.update(4, "text", "four");
    first.commit();
    assertThat(TableRebalance.of(plan).run().failures()).isEmpty();
    long rebalanced = table.latest().version();
    for (long version = 2; version <= rebalanced; version++) {
      assertThat(requireTold(version)).isEmpty();
    }
    late.commit();
    List<RecordChanges> told = requireTold(rebalanced + 1);
    assertThat(told).hasSize(1);
    assertThat(told.get(0).deleted()).isEqualTo(IndexSet.of(99));
    assertThat(told.get(0).changedBefore()).isEqualTo(IndexSet.of(100));
  }

  @Test
  void aRewrittenFieldIsChangedInAllRecords() {
    try (RecordFieldsWriter writer = RecordFieldsWriter.rewrite(table, Set.of("number"), WRITE)) {
      RecordAppender values = writer.newAppender(1);
      for (int i = 0; i < 50; i++) {
        values.set("number", 1000L + i);
        values.endRecord();
      }
      writer.commit();
    }
    List<RecordChanges> told = requireTold(1);
    assertThat(told).hasSize(1);
    assertThat(told.get(0).fields().keySet()).containsExactly(NUMBER);
    assertThat(told.get(0).changedBefore()).isEqualTo(IndexSet.range(50, 100));
  }

  @Test
  void aMergeDeletesChangesAndInserts() {
    TableSnapshot base = table.latest();
    MergeChange merge = MergeChange.of(base).adding(List.of(shard(4)));
    for (int part = 0; part < 2; part++) {
      try (ShardChangeWriter writer = ShardChangeWriter.open(
          storage, ChangeBase.of(base), base.shards().get(1), Set.of("text"))) {
        writer.delete(7 + part);
        writer.update(20 + part, "text", "merged");
        merge.change(writer.finish());
      }
    }
    merge.commit();
    List<RecordChanges> told = requireTold(1);
    assertThat(told).hasSize(2);
    assertThat(told.get(0).deleted()).isEqualTo(IndexSet.range(57, 59));
    assertThat(told.get(1).inserted()).isEqualTo(IndexSet.range(148, 152));
  }

  @Test
  void randomChangesAreTold() {
    for (int round = Math.max(10, Budget.of(60)); round > 0; round--) {
      RowChange change = change();
      int length = (int) table.latest().length();
      List<Integer> indices = new ArrayList<>(
          LongStream.range(0, length).mapToInt(i -> (int) i).boxed().toList());
      Collections.shuffle(indices, random);
      for (int index : indices.subList(0, Math.min(length, 1 + random.nextInt(8)))) {
        switch (random.nextInt(4)) {
          case 0 -> change.delete(index);
          case 1 -> change.update(index, "number", random.nextLong());
          case 2 -> change.update(index, "text", random.nextBoolean() ? null : "new " + index);
          default -> {
            change.update(index, "number", null);
            change.update(index, "text", "both " + index);
          }
        }
      }
      change.commit();
      requireTold(table.latest().version());
      if (random.nextInt(4) == 0) {
        TableRebalance.of(RebalancePlan.of(
                table.latest(), RebalanceOptions.defaults().withAllShards().withWrite(WRITE)))
            .run();
      }
    }
  }

  @Test
  void whatIsNotThereIsRefused() {
    assertThatThrownBy(() -> changes.of(1)).isInstanceOf(VersionNotFoundException.class);
    assertThatThrownBy(() -> changes.between(3, 2)).isInstanceOf(IllegalArgumentException.class);
    assertThat(changes.between(-1, 0)).hasSize(1);
    assertThat(changes.between(0, 0)).isEmpty();
  }
}
