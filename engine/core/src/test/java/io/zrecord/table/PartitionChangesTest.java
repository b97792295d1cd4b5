package io.zrecord.table;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDatasetWriter;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.MemoryStorage;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Changes of records and fields of a table with partitions: what stays, and what is refused. */
final class PartitionChangesTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("value", ElementType.I64)
      .field("kind", ElementType.UTF8)
      .field("small", ElementType.I32)
      .field("day", ElementType.DATE)
      .build();
  private static final List<Integer> PARTITIONS = List.of(2, 3, 4);

  private static final int RECORDS = PatchRef.MOST_CHUNKS + 1;

  private final Storage storage = new MemoryStorage();
  private final RecordTable table = RecordTable.at(storage);

  private ShardSummary shard(String kind, long... values) {
    try (ShardWriter writer = ShardWriter.create(
        storage,
        UUID.randomUUID(),
        SCHEMA,
        WriteOptions.defaults().withStripeBytes(1 << 16),
        PARTITIONS,
        List.of(kind, "7", "1970-01-11"))) {
      for (long value : values) {
        writer.putLong(0, value);
        writer.put(1, kind.getBytes(UTF_8), 0, kind.length());
        writer.putInt(2, 7);
        writer.putInt(3, 10);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  @BeforeEach
  void create() {
    table.commit(Shards.change(
            TableChange.Kind.CREATE,
            OptionalLong.empty(),
            SCHEMA,
            List.of(shard("a", new long[RECORDS]), shard("b", 4)))
        .partitionedBy(PARTITIONS));
  }

  private void requirePartitions() {
    TableSnapshot latest = RecordTable.at(storage).latest();
    assertThat(latest.partitionFields()).extracting(FieldSpec::id).containsExactly(2, 3, 4);
    assertThat(latest.shards())
        .extracting(shard -> shard.partition().get(0))
        .containsExactly("a", "b");
    assertThat(latest.indicesOf(partition -> "b".equals(partition.get(0))).count())
        .isOne();
  }

  @Test
  void changesOfOtherFieldsKeepPartitions() {
    table.renameField("kind", "sort");
    requirePartitions();
    FieldSpec score = new FieldSpec(1, "score", ElementType.F32, Shape.scalar(), Compression.RAW);
    table.addFields(List.of(score));
    try (RecordFieldsWriter writer =
        RecordFieldsWriter.rewrite(table, Set.of("score"), WriteOptions.defaults())) {
      writer.newAppender(1).set("score", 1f).endRecord();
      writer.commit();
    }
    requirePartitions();
    table.dropField("score");
    requirePartitions();
  }

  @Test
  void anIntegerThatPromotesKeepsItsTexts() {
    table.promoteField("small", ElementType.I64);
    requirePartitions();
    RowChange change = RowChange.of(table.latest());
    change.delete(0);
    change.commit();
    requirePartitions();
  }

  @Test
  void partitionFieldsAreNotChanged() {
    RowChange change = RowChange.of(table.latest());
    refuses(() -> change.update(0, "kind", "b"));
    refuses(() -> table.dropField("kind"));
    refuses(() -> table.promoteField("day", ElementType.TIMESTAMP_NTZ));
    refuses(() -> table.promoteField("kind", ElementType.BYTES));
    refuses(() -> RecordFieldsWriter.rewrite(table, Set.of("kind"), WriteOptions.defaults()));
    assertThat(table.latest().version()).isZero();
  }

  /** A writer that does not divide records would make a table of a partitioned one that is not. */
  @Test
  void aWriteThatDoesNotDivideRecordsIsRefusedBeforeItBegins(@TempDir Path path) {
    Storage local = LocalStorage.at(path);
    RecordSchema schema = RecordSchema.builder().field("kind", ElementType.UTF8).build();
    RecordTable partitioned = RecordTable.at(local);
    partitioned.commit(
        Shards.change(TableChange.Kind.CREATE, OptionalLong.empty(), schema, List.of())
            .partitionedBy(List.of(1)));
    refuses(() -> RecordDatasetWriter.append(path.toString(), schema, WriteOptions.defaults()));
    refuses(() -> RecordDatasetWriter.overwrite(path.toString(), schema, WriteOptions.defaults()));
    assertThat(partitioned.latest().partitionFields()).hasSize(1);
  }

  private static void refuses(ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("partition");
  }

  /** A patch with more chunks than allowed: the shard is written again. */
  @Test
  void aShardWithNewTablesOfAFieldKeepsItsPartition() {
    assertThat(table.latest().shards().get(0).tables()).hasSize(1);
    for (int i = 0; i < RECORDS; i++) {
      RowChange change = RowChange.of(table.latest());
      change.update(i, "value", (long) -i);
      change.commit();
    }
    assertThat(table.latest().shards().get(0).tables()).hasSize(2);
    requirePartitions();
  }

  @Test
  void aPartitionMayLoseAllRecords() {
    RowChange change = RowChange.of(table.latest());
    change.delete(RECORDS);
    change.commit();
    assertThat(table.latest().shards()).hasSize(1);
    assertThat(table.latest().partitionFields()).hasSize(3);
  }
}
