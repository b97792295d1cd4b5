package io.zrecord.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.testing.FabricatedTable;
import io.zrecord.testing.ShardOnDisk;
import io.zrecord.verify.DatasetSummary;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DatasetInspectionTest {
  private static final RecordSchema MIXED = RecordSchema.builder()
      .field("number", ElementType.I64)
      .field("text", ElementType.UTF8)
      .field("pixels", ElementType.U8, Shape.of(3), Compression.RAW)
      .build();
  private static final WriteOptions WRITE = WriteOptions.defaults().withDurability(Durability.NONE);

  @TempDir
  Path directory;

  private record Seen(DatasetUsage sum, List<ShardUsage> shards) {
    ChunkUsage chunk(int ordinal) {
      return shards.get(0).chunks().get(ordinal);
    }

    FieldUsage field(int ordinal) {
      return sum.fields().get(ordinal);
    }
  }

  private static Seen inspect(Path path) {
    return run(DatasetInspection.of(path.toString()));
  }

  private static Seen run(DatasetInspection inspection) {
    List<ShardUsage> shards = new ArrayList<>();
    DatasetUsage sum = inspection.run(shards::add);
    assertThat(shards).hasSize(inspection.shardCount());
    return new Seen(sum, shards);
  }

  private Path table(String... texts) {
    return table(WRITE, texts);
  }

  private Path table(WriteOptions options, String... texts) {
    Path path = directory.resolve("table");
    try (RecordDatasetWriter writer = RecordDatasetWriter.append(path.toString(), MIXED, options)) {
      RecordAppender appender = writer.newAppender();
      for (String text : texts) {
        appender.set("number", 7L).set("pixels", new byte[3]);
        if (!text.equals("-")) {
          appender.set("text", text);
        }
        appender.endRecord();
      }
      writer.commit();
    }
    return path;
  }

  @Test
  void aTableOfRunsHasNothingButPaddingBesideItsValues() {
    Seen seen = inspect(table("aaa", "-", "b"));
    // number at 64, 24 bytes; texts at 88, 4 bytes; pixels at 96, 9 bytes; rolled at 112.
    int padding = 64 + 4 + 7;
    assertThat(seen.chunk(0).space()).isEqualTo(new SpaceUsage(112, 24 + 4 + 9, 0, padding, 0, 0));
    assertThat(seen.sum().space()).isEqualTo(new SpaceUsage(112, 24 + 4 + 9, 0, padding, 3, 3));
    assertThat(seen.chunk(0).liveBytes())
        .containsEntry(1, 24L)
        .containsEntry(2, 4L)
        .containsEntry(3, 9L);
    assertThat(seen.chunk(0).file())
        .startsWith("shard/" + seen.shards().get(0).shard() + "/")
        .endsWith(".zr");
    assertThat(seen.field(1).absentCount()).isEqualTo(1);
    assertThat(seen.field(1).valueSizes().buckets())
        .containsExactly(new SizeHistogram.Bucket(1, 1, 1), new SizeHistogram.Bucket(2, 3, 1));
    assertThat(seen.field(2).paddingBytes()).isEqualTo(7);
    assertThat(seen.sum().fragmentation())
        .isEqualTo(new Fragmentation(2 + 1 + 2, 0, 0, 0, 37, 3 * 4096));
  }

  @Test
  void whatStaysEmptyToAlignValuesIsPadding() {
    Seen seen = inspect(table(WRITE.withAlignBytes(64), "x".repeat(100), "-", "b"));
    // number at 64, 24 bytes; texts at 128 and 228; pixels at 232, 9 bytes; rolled at 248.
    assertThat(seen.chunk(0).space())
        .isEqualTo(new SpaceUsage(248, 24 + 101 + 9, 0, 64 + 40 + 3 + 7, 0, 0));
  }

  @Test
  void shardsOfATableAddUp() {
    table("a", "b");
    Path path = table("ccc");
    Seen seen = inspect(path);
    assertThat(seen.sum().shardCount()).isEqualTo(2);
    assertThat(seen.sum().chunkCount()).isEqualTo(2);
    assertThat(seen.sum().recordCount()).isEqualTo(3);
    assertThat(seen.shards()).extracting(ShardUsage::firstIndex).containsExactly(0L, 2L);
    assertThat(seen.sum().space())
        .isEqualTo(seen.shards().get(0).space().plus(seen.shards().get(1).space()));
    assertThat(seen.sum().shardSizes().count()).isEqualTo(2);
    assertThat(seen.sum().chunkSizes()).isEqualTo(seen.sum().shardSizes());
    assertThat(run(DatasetInspection.of(RecordTable.at(LocalStorage.at(path)).version(0)))
            .sum()
            .recordCount())
        .isEqualTo(2);
  }

  @Test
  void tablesThatWereCutAreSaidToBe() throws IOException {
    Path path = table("aaa", "b");
    try (FileChannel file = FileChannel.open(files(path).tables(), StandardOpenOption.WRITE)) {
      file.truncate(17);
    }
    assertThatThrownBy(() -> inspect(path)).isInstanceOf(TruncatedFileException.class);
  }

  @Test
  void anotherDirectoryIsNoDataset() {
    assertThatThrownBy(() -> inspect(directory)).isInstanceOf(NotADatasetException.class);
  }

  @Test
  void sizesThatOverflowAreDamage() {
    RecordSchema schema = RecordSchema.builder().field("f", ElementType.I64).build();
    List<ChunkFile> chunks = List.of(
        ChunkFile.of(UUID.randomUUID(), Long.MAX_VALUE), ChunkFile.of(UUID.randomUUID(), 64));
    Path path = directory.resolve("overflow");
    new FabricatedTable(path, schema, 1, chunks).write(List.of(RunRecord.fixed(0, 0, 1, 64, 8, 0)));
    assertThatThrownBy(() -> inspect(path))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("more than 2^63 bytes");
  }

  /** Five fields in the same bytes, of which there would be 2⁶³ and more. */
  @Test
  void runsThatOverlapAreDamageHoweverLongTheySayTheyAre() {
    long half = 1L << 47;
    int width = 8192;
    RecordSchema.Builder schema = RecordSchema.builder();
    for (int id = 1; id <= 5; id++) {
      schema.field("f" + id, ElementType.I64, Shape.of(width / 8), Compression.RAW);
    }
    ChunkFile huge = ChunkFile.of(UUID.randomUUID(), Long.MAX_VALUE);
    Path path = directory.resolve("overlap");
    new FabricatedTable(path, schema.build(), 2 * half, List.of(huge))
        .write(List.of(
            RunRecord.fixed(0, 0, half, 64, half * width, 0),
            RunRecord.fixed(0, half, half, 1L << 61, half * width, 0)));
    assertThatThrownBy(() -> inspect(path))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("overlap");
  }

  private static ShardOnDisk files(Path table) {
    return ShardOnDisk.of(table.resolve(
        RecordTable.at(LocalStorage.at(table)).latest().shards().get(0).directory()));
  }

  @Test
  void deletedAndReplacedValuesAreDead() {
    RecordSchema schema = RecordSchema.builder()
        .field("number", ElementType.I64)
        .field("text", ElementType.UTF8)
        .build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(directory.toString(), schema, WRITE)) {
      RecordAppender appender = writer.newAppender();
      for (int i = 0; i < 10; i++) {
        if (i != 3) {
          appender.set("number", (long) i);
        }
        appender.set("text", "0123456789").endRecord();
      }
      writer.commit();
    }
    RowChange change = RowChange.of(RecordTable.at(LocalStorage.at(directory)).latest());
    change.delete(0);
    change.delete(3);
    change.update(5, "number", 50L);
    change.update(5, "text", "five");
    change.update(6, "text", null);
    change.commit();

    Seen seen = inspect(directory);
    FieldUsage number = seen.field(0);
    assertThat(number.recordCount()).isEqualTo(8);
    assertThat(number.absentCount()).isZero();
    assertThat(number.liveBytes()).isEqualTo(8 * 8);
    FieldUsage text = seen.field(1);
    assertThat(text.recordCount()).isEqualTo(8);
    assertThat(text.absentCount()).isEqualTo(1);
    assertThat(text.liveBytes()).isEqualTo(6 * 10 + 4);
    SpaceUsage space = seen.sum().space();
    assertThat(space.liveBytes()).isEqualTo(64 + 64);
    assertThat(space.deadBytes()).isEqualTo(3 * 8 + 4 * 10);
    assertThat(space.liveRecords()).isEqualTo(8);
    assertThat(space.writtenRecords()).isEqualTo(10);
  }

  /** What is left in chunks of fields that were dropped or written again, in every layout. */
  @ParameterizedTest
  @ValueSource(strings = {"raw", "zstd:1", "lz4"})
  void valuesOfFieldsThatWereDroppedOrWrittenAgainAreDead(String codec) {
    Compression compression = Compression.parse(codec);
    RecordSchema schema = RecordSchema.builder()
        .field("kept", ElementType.I64)
        .field("dropped", ElementType.I32, Shape.scalar(), compression)
        .field("again", ElementType.UTF8, Shape.scalar(), compression)
        .build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(directory.toString(), schema, WRITE)) {
      RecordAppender appender = writer.newAppender();
      for (int i = 0; i < 1000; i++) {
        appender
            .set("kept", (long) i)
            .set("dropped", i)
            .set("again", "value " + i)
            .endRecord();
      }
      writer.commit();
    }
    Seen before = inspect(directory);
    assertThat(before.sum().space().deadBytes()).isZero();

    RecordTable table = RecordTable.at(LocalStorage.at(directory));
    table.dropField("dropped");
    Seen dropped = inspect(directory);
    long droppedBytes = before.field(1).liveBytes();
    assertThat(dropped.sum().space().deadBytes()).isEqualTo(droppedBytes);
    assertThat(dropped.sum().space().paddingBytes())
        .isEqualTo(before.sum().space().paddingBytes());
    assertThat(DatasetSummary.of(directory.toString()).valueBytes())
        .hasValue(before.sum().space().liveBytes() - droppedBytes);

    try (RecordFieldsWriter writer = RecordFieldsWriter.rewrite(table, Set.of("again"), WRITE)) {
      RecordAppender appender = writer.newAppender(0);
      for (int i = 0; i < 1000; i++) {
        appender.set("again", "other " + i).endRecord();
      }
      writer.finish(0);
      writer.commit();
    }
    Seen again = inspect(directory);
    assertThat(again.sum().space().deadBytes())
        .isEqualTo(droppedBytes + before.field(2).liveBytes());
    assertThat(DatasetSummary.of(directory.toString()).valueBytes())
        .hasValue(again.sum().space().liveBytes());
  }

  @Test
  void valuesThatWereReplacedTwiceAreDead() {
    Path path = table("aaa", "bbb", "ccc");
    long before = inspect(path).sum().space().deadBytes();
    for (String text : List.of("12345678", "1234567812345678")) {
      RowChange change = RowChange.of(RecordTable.at(LocalStorage.at(path)).latest());
      change.update(1, "text", text);
      change.commit();
    }
    Seen seen = inspect(path);
    assertThat(before).isZero();
    assertThat(seen.field(1).liveBytes()).isEqualTo(3 + 3 + 16);
    // The value of the table; that of the first patch went with its chunk, if that is gone.
    long chunkBytes = seen.shards().get(0).chunks().size() > 2 ? 8 : 0;
    assertThat(seen.sum().space().deadBytes()).isEqualTo(3 + chunkBytes);
    // Only files of the shard tell it.
    assertThat(DatasetSummary.of(path.toString()).valueBytes()).isEmpty();
    assertThat(DatasetSummary.of(path.toString()).writtenRecords()).isEqualTo(3);
  }

  /** The values of a patch whose only field was dropped are dead, as those of the shard are. */
  @Test
  void changedValuesOfAFieldThatWasDroppedAreDead() {
    Path path = table("aaa", "bbb", "ccc");
    RecordTable table = RecordTable.at(LocalStorage.at(path));
    RowChange change = RowChange.of(table.latest());
    change.update(1, "text", "12345678");
    change.commit();
    SpaceUsage before = inspect(path).sum().space();
    assertThat(before.deadBytes()).isEqualTo(3);
    table.dropField("text");
    SpaceUsage dropped = inspect(path).sum().space();
    assertThat(dropped.deadBytes()).isEqualTo(3 + 3 + 3 + 8);
    assertThat(dropped.paddingBytes()).isEqualTo(before.paddingBytes());
  }
}
