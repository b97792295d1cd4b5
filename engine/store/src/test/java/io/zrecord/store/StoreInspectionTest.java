package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.inspect.ChunkUsage;
import io.zrecord.inspect.DatasetInspection;
import io.zrecord.inspect.DatasetUsage;
import io.zrecord.inspect.FieldUsage;
import io.zrecord.inspect.Fragmentation;
import io.zrecord.inspect.ShardUsage;
import io.zrecord.inspect.SpaceUsage;
import io.zrecord.internal.format.Entry;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.testing.Budget;
import io.zrecord.testing.ShardOnDisk;
import io.zrecord.verify.DatasetSummary;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How records and bytes of stores are used, and of tables that were made of stores. */
class StoreInspectionTest {
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
    DatasetSummary summary = DatasetSummary.of(directory.resolve("snapshot").toString());
    assertThat(summary.writtenRecords()).isEqualTo(seen.sum().space().writtenRecords());
    assertThat(summary.writtenRecords()).isGreaterThan(summary.length());
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
}
