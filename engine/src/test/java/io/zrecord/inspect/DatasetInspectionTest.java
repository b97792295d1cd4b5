package io.zrecord.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.RecordStore;
import io.zrecord.StoreOptions;
import io.zrecord.StoreSnapshot;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.internal.format.Entry;
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
import io.zrecord.testing.Budget;
import io.zrecord.testing.FabricatedTable;
import io.zrecord.testing.ShardOnDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DatasetInspectionTest {
  private static final RecordSchema TEXTS =
      RecordSchema.builder().field("text", ElementType.UTF8).build();
  private static final RecordSchema MIXED = RecordSchema.builder()
      .field("number", ElementType.I64)
      .field("text", ElementType.UTF8)
      .field("pixels", ElementType.U8, Shape.of(3), Compression.RAW)
      .build();
  /** Id of the field of texts in {@link #MIXED}. */
  private static final int TEXT = 2;

  private static final StoreOptions ONE_CHUNK = StoreOptions.defaults().withWriters(1);
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

  private static void append(RecordStore store, int lengthBytes) {
    store.append(store.newValues().set("text", "x".repeat(lengthBytes)));
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
  void everyByteOfAStoreIsLiveOrDeadOrPadding() {
    Path path = directory.resolve("store");
    try (RecordStore store = RecordStore.create(path, TEXTS, ONE_CHUNK)) {
      append(store, 5); // at 64
      append(store, 16); // at 72
      append(store, 1); // at 88
      store.commit();
      ChunkUsage chunk = inspect(path).chunk(0);
      assertThat(chunk.space()).isEqualTo(new SpaceUsage(89, 22, 0, 64 + 3, 3, 3));
      assertThat(chunk.file()).isEqualTo("chunk/0.zr");
      assertThat(chunk.liveBytes()).containsOnlyKeys(1).containsEntry(1, 22L);

      store.update(1, store.newValues().set("text", "y".repeat(10))); // at 96
      store.commit();
      assertThat(inspect(path).chunk(0).space())
          .isEqualTo(new SpaceUsage(106, 16, 16, 64 + 3 + 7, 4, 3));

      store.delete(0);
      store.commit();
      Seen seen = inspect(path);
      SpaceUsage space = new SpaceUsage(106, 11, 5 + 3 + 16, 64 + 7, 4, 2);
      assertThat(seen.chunk(0).space()).isEqualTo(space);
      assertThat(seen.shards().get(0).space()).isEqualTo(space);
      assertThat(seen.sum().space()).isEqualTo(space);
      assertThat(space.byteUtilization()).isCloseTo(11.0 / 106, within(1e-12));
      assertThat(space.recordUtilization()).isEqualTo(0.5);
    }
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
  void aValueThatWasMovedToTheEndCostsAScanAJump() {
    Path path = directory.resolve("store");
    try (RecordStore store = RecordStore.create(path, TEXTS, ONE_CHUNK)) {
      for (int i = 0; i < 4; i++) {
        append(store, 8192); // at 64, 8256, 16448, 24640
      }
      store.commit();
      Fragmentation ordered = inspect(path).sum().fragmentation();
      assertThat(ordered).isEqualTo(new Fragmentation(3, 0, 0, 0, 32768, 9 * 4096));
      store.update(0, store.newValues().set("text", "y".repeat(8192))); // at 32832
      store.commit();
      Fragmentation scattered = inspect(path).sum().fragmentation();
      assertThat(scattered).isEqualTo(new Fragmentation(3, 1, 1, 32768, 32768, 10 * 4096));
      assertThat(scattered.scatteredShare()).isCloseTo(1.0 / 3, within(1e-12));
      assertThat(scattered.meanJumpBytes()).isEqualTo(32768);
      assertThat(scattered.scanCost()).isEqualTo(1.25);
    }
  }

  @Test
  void aStoreThatChangedAtRandomAddsUp() {
    long seed = Budget.seed();
    Random random = new Random(seed);
    Path path = directory.resolve("store");
    StoreOptions options = StoreOptions.defaults().withWriters(2).withChunkBytes(1 << 14);
    List<int[]> lengths = new ArrayList<>();
    try (RecordStore store = RecordStore.create(path, MIXED, options)) {
      for (int i = 0; i < 5_000; i++) {
        int length = random.nextInt(40);
        int at = lengths.isEmpty() ? 0 : random.nextInt(lengths.size());
        if (lengths.isEmpty() || random.nextInt(3) == 0) {
          store.append(store.newValues().set("number", 1L).set("text", "x".repeat(length)));
          lengths.add(new int[] {length});
        } else if (random.nextBoolean()) {
          store.update(at, store.newValues().set("text", "x".repeat(length)));
          lengths.get(at)[0] = length;
        } else if (lengths.size() > 200) {
          store.delete(at);
          lengths.set(at, lengths.get(lengths.size() - 1));
          lengths.remove(lengths.size() - 1);
        }
      }
    }
    Seen seen = inspect(path);
    long text = lengths.stream().mapToLong(length -> length[0]).sum();
    assertThat(seen.sum().chunkCount()).as("seed %d", seed).isGreaterThan(5);
    assertThat(seen.field(0).liveBytes()).isEqualTo(8L * lengths.size());
    assertThat(seen.field(1).liveBytes()).as("seed %d", seed).isEqualTo(text);
    assertThat(seen.field(2).absentCount()).isEqualTo(lengths.size());
    for (ChunkUsage chunk : seen.shards().get(0).chunks()) {
      SpaceUsage space = chunk.space();
      assertThat(space.liveBytes() + space.deadBytes() + space.paddingBytes())
          .isEqualTo(space.fileBytes());
      assertThat(space.deadBytes()).isNotNegative();
      assertThat(space.liveRecords()).isLessThanOrEqualTo(space.writtenRecords());
      assertThat(chunk.liveBytes().values().stream().mapToLong(b -> b).sum())
          .isEqualTo(space.liveBytes());
    }
    // As of a table that is made of the store.
    StoreSnapshot.create(path, directory.resolve("snapshot"));
    assertThat(inspect(directory.resolve("snapshot")).sum()).isEqualTo(seen.sum());
  }

  @Test
  void anEntryOutsideItsChunkIsDamage() throws IOException {
    Path path = snapshot("aaa", "b");
    writeEntry(path, 1, 1 << 20, Entry.word1(0, 8));
    assertThatThrownBy(() -> inspect(path))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(".tables")
        .hasMessageContaining("the entry at 1 points to 8 bytes at 1048576 of chunk 0");
  }

  @Test
  void anEntryOfAChunkThatIsNotThereIsDamage() throws IOException {
    Path path = snapshot("aaa", "b");
    writeEntry(path, 0, 64, Entry.word1(-1, 8));
    assertThatThrownBy(() -> inspect(path))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("of chunk 4294967295, which the shard does not have");
  }

  @Test
  void valuesThatOverlapAreDamage() throws IOException {
    Path path = snapshot("a".repeat(50), "b".repeat(50));
    for (int i = 0; i < 2; i++) {
      writeEntry(path, i, 64, Entry.word1(0, 64));
    }
    assertThatThrownBy(() -> inspect(path))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(".zr")
        .hasMessageContaining("overlap");
  }

  /** Returns a table made of a store, whose values have entries. */
  private Path snapshot(String... texts) {
    Path store = directory.resolve("store");
    Path path = directory.resolve("snapshot");
    try (RecordStore open = RecordStore.create(store, MIXED, StoreOptions.defaults())) {
      for (String text : texts) {
        open.append(open.newValues().set("text", text));
      }
      open.commit();
      StoreSnapshot.create(store, path);
    }
    return path;
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

  private static void writeEntry(Path table, int index, long word0, long word1) throws IOException {
    ByteBuffer entry = ByteBuffer.allocate(Entry.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    entry.putLong(0, word0).putLong(8, word1);
    ShardOnDisk files = files(table);
    try (FileChannel channel = FileChannel.open(files.tables(), StandardOpenOption.WRITE)) {
      channel.write(entry, files.placeAt(TEXT, index));
    }
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
}
