package io.zrecord.changes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Shards of versions in which a field had a wider type, before the table was rolled back. */
final class ShardFieldsTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("id", ElementType.I64)
      .field("c", ElementType.I32)
      .build();
  private static final long LARGE = 1L << 40;

  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;

  @BeforeEach
  void create() {
    storage = LocalStorage.at(directory.resolve("table"));
    table = RecordTable.at(storage);
    table.commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA)
        .shards(List.of(shard(SCHEMA)))
        .build());
  }

  private ShardSummary shard(RecordSchema schema) {
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (ShardWriter writer =
        ShardWriter.create(storage, UUID.randomUUID(), schema, options, List.of(), List.of())) {
      for (int i = 0; i < 3; i++) {
        writer.putLong(0, i);
        if (schema.fields().get(1).type().equals(ElementType.I32)) {
          writer.putInt(1, i);
        } else {
          writer.putLong(1, LARGE + i);
        }
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private static long valueOf(RecordDataset dataset, long index) {
    try (Batch batch = dataset.gather(new long[] {index}, "c")) {
      return ByteBuffer.wrap(batch.bytes("c", 0)).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }
  }

  @Test
  void tablesAndPatchesOfAWiderTypeAreReadAsThatType() {
    table.promoteField("c", ElementType.I64);
    TableSnapshot promoted = table.latest();
    RowChange change = RowChange.of(promoted);
    change.update(0, "c", LARGE);
    change.commit();
    table.commit(TableChange.of(TableChange.Kind.APPEND, promoted.schema())
        .shards(List.of(shard(promoted.schema())))
        .build());
    List<ShardSummary> shards = List.copyOf(table.latest().shards());
    TableSnapshot narrow = table.rollBack(0);
    RecordSchema fields = narrow.schema();
    for (ShardSummary shard : shards) {
      assertThatThrownBy(() -> RecordDataset.openShard(
                  storage, fields, shard, RecordDataset.ReadOptions.defaults())
              .gather(new long[] {0}, "c"))
          .isInstanceOf(CorruptDataException.class);
      RecordSchema widest = ShardFields.widest(storage, fields, shard);
      assertThat(widest.fields().get(0)).isEqualTo(fields.fields().get(0));
      assertThat(widest.fields().get(1).type()).isEqualTo(ElementType.I64);
      try (RecordDataset dataset =
          RecordDataset.openShard(storage, widest, shard, RecordDataset.ReadOptions.defaults())) {
        assertThat(valueOf(dataset, 0)).isEqualTo(LARGE);
      }
    }
    assertThat(ShardFields.widest(storage, fields, narrow.shards().get(0))).isSameAs(fields);
    RecordSchema none = new RecordSchema(List.of());
    assertThat(ShardFields.widest(storage, none, shards.get(0))).isSameAs(none);
  }
}
