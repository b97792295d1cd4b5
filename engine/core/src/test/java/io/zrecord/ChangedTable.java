package io.zrecord;

import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Writes a table with runs of every kind but entries, nested values, a field that was added, fields
 * that were rewritten, one of them over a patch, and records that were changed and deleted.
 */
final class ChangedTable {
  private static final int SHARD_RECORDS = 120;
  private static final WriteOptions OPTIONS = WriteOptions.defaults()
      .withDurability(Durability.NONE)
      .withChunkBytes(1 << 16)
      .withStripeBytes(1 << 16);
  private static final NestedType TURNS = NestedType.listOf(new NestedType.StructOf(List.of(
      new NestedType.Member("role", NestedType.of(ElementType.UTF8)),
      new NestedType.Member("tokens", NestedType.listOf(NestedType.of(ElementType.I32))))));
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("id", ElementType.I64)
      .field("box", ElementType.F32, Shape.of(2), Compression.RAW)
      .field("text", ElementType.UTF8)
      .field("image", ElementType.BYTES)
      .field("zipped", ElementType.UTF8, Shape.scalar(), Compression.of(Codec.ZSTD))
      .field("label", ElementType.I32, Shape.scalar(), Compression.of(Codec.FLATE))
      .field("turns", ElementType.nested(TURNS), Shape.scalar(), Compression.of(Codec.LZ4))
      .build();

  private final Random random;
  private final RecordTable table;

  private ChangedTable(Path path, long seed) {
    this.random = new Random(seed);
    this.table = RecordTable.at(LocalStorage.at(path));
  }

  static void write(Path path, long seed) {
    ChangedTable changed = new ChangedTable(path, seed);
    for (int shard = 0; shard < 2; shard++) {
      try (RecordDatasetWriter writer =
          RecordDatasetWriter.append(path.toString(), SCHEMA, OPTIONS)) {
        changed.append(writer.newAppender());
        writer.commit();
      }
    }
    changed.table.tag(1, "before");
    changed.rewriteBoxes();
    changed.changeRecords();
    changed.addField();
    changed.changeRecords();
    changed.rewriteTexts();
    changed.changeRecords();
  }

  private void append(RecordAppender records) {
    for (int i = 0; i < SHARD_RECORDS; i++) {
      records.set("id", random.nextLong()).set("label", random.nextInt(1000));
      if (i % 7 != 0) {
        records.set("box", box()).set("text", "text " + random.nextInt());
        records.set("zipped", "zip".repeat(random.nextInt(40)));
      }
      if (i % 5 != 0) {
        records.set("image", bytes(random.nextInt(9_000)));
        records.set("turns", List.of(Map.of("role", "r" + i, "tokens", List.of(i, 2 * i))));
      }
      records.endRecord();
    }
  }

  private void changeRecords() {
    RowChange change = RowChange.of(table.latest());
    for (int i = 0; i < 12; i++) {
      change.delete(10L * i + random.nextInt(5));
    }
    for (int i = 0; i < 20; i++) {
      long index = 10L * i + 5 + random.nextInt(5);
      change.update(index, "id", random.nextLong());
      change.update(index, "text", i % 3 == 0 ? null : "changed " + i);
      change.update(index, "image", bytes(random.nextInt(5_000)));
    }
    change.commit();
  }

  private void addField() {
    FieldSpec score =
        RecordSchema.builder().field("score", ElementType.F64).build().fields().get(0);
    try (RecordFieldsWriter writer = RecordFieldsWriter.add(table, List.of(score), OPTIONS)) {
      for (int shard = 0; shard < writer.base().shards().size(); shard++) {
        RecordAppender values = writer.newAppender(shard);
        for (long i = 0; i < writer.base().shards().get(shard).length(); i++) {
          values.set("score", random.nextDouble()).endRecord();
        }
      }
      writer.commit();
    }
  }

  private void rewriteBoxes() {
    try (RecordFieldsWriter writer = RecordFieldsWriter.rewrite(table, Set.of("box"), OPTIONS)) {
      RecordAppender values = writer.newAppender(0);
      for (long i = 0; i < writer.base().shards().get(0).length(); i++) {
        values.set("box", box()).endRecord();
      }
      writer.commit();
    }
  }

  private void rewriteTexts() {
    try (RecordFieldsWriter writer = RecordFieldsWriter.rewrite(table, Set.of("text"), OPTIONS)) {
      RecordAppender values = writer.newAppender(0);
      for (long i = 0; i < writer.base().shards().get(0).length(); i++) {
        values.set("text", i % 5 == 0 ? null : "rewritten " + i).endRecord();
      }
      writer.commit();
    }
  }

  private byte[] box() {
    return ByteBuffer.allocate(8).putLong(random.nextLong()).array();
  }

  private byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}
