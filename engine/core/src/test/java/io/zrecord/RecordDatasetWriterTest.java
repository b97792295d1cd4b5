package io.zrecord;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.DatasetExistsException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RecordDatasetWriterTest {
  private static final WriteOptions OPTIONS = WriteOptions.defaults().withStripeBytes(1 << 16);
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("name", ElementType.UTF8, Shape.scalar(), Compression.parse("zstd"))
      .field("label", ElementType.I32)
      .field("box", ElementType.F32, Shape.of(4), Compression.RAW)
      .build();

  @TempDir
  Path directory;

  private Path dataset() {
    return directory.resolve("dataset");
  }

  private static void fill(RecordAppender records, int from, int to) {
    for (int i = from; i < to; i++) {
      records.set("name", "r" + i).set("label", i);
      if (i % 3 != 0) {
        records.set("box", new float[] {i, -0f, Float.NaN, i});
      }
      records.endRecord();
    }
  }

  @Test
  void whatWasWrittenIsRead() {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(dataset().toString(), SCHEMA, OPTIONS)) {
      fill(writer.newAppender(), 0, 1000);
      assertThat(writer.commit().version()).isZero();
    }
    long[] indices = {999, 3, 3, 0, 500};
    try (RecordDataset dataset = RecordDataset.open(dataset().toString());
        Batch batch = dataset.gather(indices)) {
      assertThat(dataset.length()).isEqualTo(1000);
      for (int i = 0; i < indices.length; i++) {
        assertThat(new String(batch.bytes("name", i), UTF_8)).isEqualTo("r" + indices[i]);
        assertThat(batch.isAbsent("box", i)).isEqualTo(indices[i] % 3 == 0);
      }
      ByteBuffer box = ByteBuffer.wrap(batch.bytes("box", 4)).order(ByteOrder.LITTLE_ENDIAN);
      assertThat(box.getFloat()).isEqualTo(500f);
      assertThat(box.getInt()).isEqualTo(Float.floatToRawIntBits(-0f));
    }
  }

  @Test
  void threadsWriteTheirPartsAndOneCommitHasThemAllInOrder() throws Exception {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(dataset().toString(), SCHEMA, OPTIONS)) {
      List<Thread> threads = new ArrayList<>();
      for (int part = 0; part < 4; part++) {
        RecordAppender records = writer.newAppender();
        int from = part * 500;
        threads.add(new Thread(() -> fill(records, from, from + 500)));
      }
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(writer.commit().shards()).hasSize(4);
    }
    try (RecordDataset dataset = RecordDataset.open(dataset().toString());
        Batch batch = dataset.gather(LongStream.range(0, 2000).toArray(), "label")) {
      for (int i = 0; i < 2000; i++) {
        assertThat(ByteBuffer.wrap(batch.bytes("label", i))
                .order(ByteOrder.LITTLE_ENDIAN)
                .getInt())
            .isEqualTo(i);
      }
    }
  }

  @Test
  void whatIsNotCommittedLeavesNothing() throws IOException {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(dataset().toString(), SCHEMA, OPTIONS)) {
      fill(writer.newAppender(), 0, 10_000);
    }
    requireNoShards();
  }

  @Test
  void aRefusedCommitLeavesNothing() throws IOException {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(dataset().toString(), SCHEMA, OPTIONS)) {
      fill(writer.newAppender(), 0, 10);
      try (RecordDatasetWriter faster =
          RecordDatasetWriter.create(dataset().toString(), SCHEMA, OPTIONS)) {
        faster.commit();
      }
      assertThatThrownBy(writer::commit).isInstanceOf(DatasetExistsException.class);
      assertThatThrownBy(writer::newAppender).isInstanceOf(IllegalStateException.class);
    }
    requireNoShards();
  }

  private void requireNoShards() throws IOException {
    if (Files.exists(dataset().resolve("shard"))) {
      try (Stream<Path> shards = Files.list(dataset().resolve("shard"))) {
        assertThat(shards).isEmpty();
      }
    }
  }

  @Test
  void anAppendGoesByNamesAndSaysEveryMismatch() {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(dataset().toString(), SCHEMA, OPTIONS)) {
      fill(writer.newAppender(), 0, 3);
      writer.commit();
    }
    List<FieldSpec> fields = SCHEMA.fields();
    RecordSchema reordered = new RecordSchema(
        List.of(fields.get(2).withId(1), fields.get(0).withId(2), fields.get(1).withId(3)));
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(dataset().toString(), reordered, OPTIONS)) {
      assertThat(writer.schema().fields()).extracting(FieldSpec::id).containsExactly(3, 1, 2);
      fill(writer.newAppender(), 3, 6);
      assertThat(writer.commit().length()).isEqualTo(6);
    }
    RecordSchema other = RecordSchema.builder()
        .field("label", ElementType.I64)
        .field("extra", ElementType.I32)
        .field("name", ElementType.UTF8)
        .build();
    assertThatThrownBy(() -> RecordDatasetWriter.append(dataset().toString(), other, OPTIONS))
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("'label' is i64, but i32")
        .hasMessageContaining("'extra' is not in the table")
        .hasMessageContaining("'box' of the table is missing");
  }

  @Test
  void anOverwriteKeepsNumbersOfSameFieldsAndOldVersions() {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(dataset().toString(), SCHEMA, OPTIONS)) {
      fill(writer.newAppender(), 0, 3);
      writer.commit();
    }
    RecordSchema schema = RecordSchema.builder()
        .field("label", ElementType.I32)
        .field("name", ElementType.BYTES)
        .build();
    try (RecordDatasetWriter writer =
            RecordDatasetWriter.overwrite(dataset().toString(), schema, OPTIONS);
        RecordDatasetWriter late =
            RecordDatasetWriter.overwrite(dataset().toString(), schema, OPTIONS)) {
      assertThat(writer.schema().fields()).extracting(FieldSpec::id).containsExactly(2, 4);
      writer.newAppender().set("label", 7).endRecord();
      assertThat(writer.commit().length()).isEqualTo(1);
      assertThatThrownBy(late::commit).isInstanceOf(CommitConflictException.class);
    }
    RecordTable table = RecordTable.at(LocalStorage.at(dataset()));
    assertThat(table.version(0).schema()).isEqualTo(SCHEMA);
    assertThat(table.version(0).length()).isEqualTo(3);
  }

  @Test
  void otherContentIsNotTouched() throws IOException {
    Files.createDirectories(dataset());
    Files.writeString(dataset().resolve("part-0.parquet"), "x");
    assertThatThrownBy(() -> RecordDatasetWriter.create(dataset().toString(), SCHEMA, OPTIONS))
        .isInstanceOf(NotADatasetException.class)
        .hasMessageContaining("part-0.parquet");
  }

  @Test
  void valuesThatDoNotFitAreRefusedByName() {
    RecordSchema schema = RecordSchema.builder()
        .field("u8", ElementType.U8)
        .field("text", ElementType.UTF8)
        .field("tensor", ElementType.I16, Shape.of(2), Compression.RAW)
        .build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(dataset().toString(), schema, OPTIONS)) {
      RecordAppender records = writer.newAppender();
      records.set("u8", 255).set("text", "x").set("tensor", new short[] {1, -1}).endRecord();
      for (Object value : List.of(256, -1, 1.5, "1", new int[1])) {
        assertThatThrownBy(() -> records.set("u8", value))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("'u8'");
      }
      assertThatThrownBy(() -> records.set("text", 5)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> records.set("tensor", new float[2]))
          .isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> records.set("none", 5))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("u8, text, tensor");
      records.endRecord();
      assertThat(writer.commit().length()).isEqualTo(2);
    }
  }
}
