package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.ShardOnDisk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Lengths of values that are refused in writing, and lengths in files that nobody can have written.
 */
class ValueLimitTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("raw", ElementType.BYTES)
      .field("packed", ElementType.BYTES, Shape.scalar(), Compression.of(Codec.ZSTD))
      .field("pair", ElementType.I32, Shape.of(2), Compression.RAW)
      .field("rows", ElementType.F32, Shape.of(-1, 3), Compression.RAW)
      .build();
  private static final int RECORDS = 3;

  @TempDir
  Path directory;

  private Path table;
  private Path store;

  /** Without checksums, which would find what these tests do to the files. */
  @BeforeEach
  void write() {
    table = directory.resolve("table");
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(
        table.toString(),
        SCHEMA,
        WriteOptions.defaults().withBlockBytes(0).withChecksum(Checksum.NONE))) {
      RecordAppender appender = writer.newAppender();
      for (int i = 0; i < RECORDS; i++) {
        appender.set("raw", new byte[100]).set("packed", new byte[100]).endRecord();
      }
      writer.commit();
    }
    store = directory.resolve("store");
    try (RecordStore open = RecordStore.create(store, SCHEMA, StoreOptions.defaults())) {
      for (int i = 0; i < RECORDS; i++) {
        open.append(open.newValues().set("raw", new byte[100]).set("packed", new byte[100]));
      }
    }
  }

  @Test
  void aValueOfAnotherLengthThanItsFieldTakesIsRefused() {
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(
        directory.resolve("refused").toString(), SCHEMA, WriteOptions.defaults())) {
      RecordAppender appender = writer.newAppender();
      assertThatThrownBy(() -> appender.set("pair", new byte[12]))
          .isInstanceOf(ValueTooLargeException.class)
          .hasMessageContaining("12 bytes to field 'pair'")
          .hasMessageContaining("exactly 8 bytes");
      assertThatThrownBy(() -> appender.set("pair", new byte[4]))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("exactly 8 bytes");
      assertThatThrownBy(() -> appender.set("rows", new byte[13]))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("a multiple of 12 bytes");
    }
    try (RecordStore open = RecordStore.open(store, StoreOptions.defaults())) {
      RecordValues values = open.newValues();
      assertThatThrownBy(() -> values.set("pair", new byte[12]))
          .isInstanceOf(ValueTooLargeException.class)
          .hasMessageContaining("exactly 8 bytes");
    }
  }

  @Test
  void aValueThatSaysMoreThanTheLimitIsDamage() throws IOException {
    for (int length : new int[] {Integer.MIN_VALUE, -1, Integer.MAX_VALUE}) {
      setLength(shard(), "raw", length);
      setLength(store, "raw", length);
      OpenShards.shared().dropUnused();
      for (Verification verification : Verification.values()) {
        assertThatThrownBy(() -> readTable("raw", verification))
            .isInstanceOf(CorruptDataException.class)
            .hasMessageContaining("values that are not within their run");
        assertThatThrownBy(() -> readStore("raw", verification))
            .isInstanceOf(CorruptDataException.class)
            .hasMessageContaining("points to " + Integer.toUnsignedString(length) + " bytes");
      }
    }
  }

  @Test
  void aPrefixThatSaysMoreThanItsBytesCanHoldIsDamageAndNotAnAllocation() throws IOException {
    setPrefix(shard(), Integer.MAX_VALUE);
    setPrefix(store, Integer.MAX_VALUE);
    assertThatThrownBy(() -> readTable("packed", Verification.NEVER))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("2147483647");
    assertThatThrownBy(() -> readStore("packed", Verification.NEVER))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("2147483647");
  }

  private void readTable(String field, Verification verification) {
    try (RecordDataset dataset = RecordDataset.open(
        LocalStorage.at(table), new RecordDataset.ReadOptions(verification, new ReadMetrics()))) {
      FieldReader reader = dataset.reader(field);
      reader.select(new long[] {0, 2, 1}, 0, RECORDS);
      assertThat(reader.value(2)).isEmpty();
    }
  }

  private void readStore(String field, Verification verification) {
    try (StoreReader reader = StoreReader.open(store, verification);
        Batch batch = reader.gather(new long[] {0, 2, 1}, field)) {
      assertThat(batch.bytes(field, 2)).isEmpty();
    }
  }

  private Path shard() throws IOException {
    try (Stream<Path> shards = Files.list(table.resolve("shard"))) {
      return shards.findFirst().orElseThrow();
    }
  }

  private static int idOf(String field) {
    return SCHEMA.fields().get(SCHEMA.ordinal(field)).id();
  }

  /** Sets the length of the second value: in its entry, or by its end. */
  private static void setLength(Path shard, String field, int length) throws IOException {
    Path offsets = shard.resolve(field + ".offset");
    if (Files.exists(offsets)) {
      ByteBuffer entry = entry(offsets);
      long word1 = Entry.word1(Entry.chunkId(entry.getLong(8)), length);
      putLong(offsets, Entry.BYTES + Long.BYTES, word1);
    } else {
      ShardOnDisk files = ShardOnDisk.of(shard);
      ByteBuffer end = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN);
      end.putInt(0, files.storedBytes(idOf(field), 0) + length);
      put(files.tables(), files.placeAt(idOf(field), 1), end);
      files.sealPlace(idOf(field), 1);
    }
  }

  /** Returns the entry of the second record of a store. */
  private static ByteBuffer entry(Path offsets) throws IOException {
    byte[] bytes = Files.readAllBytes(offsets);
    return ByteBuffer.wrap(bytes, Entry.BYTES, Entry.BYTES).slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  private static void setPrefix(Path shard, int prefix) throws IOException {
    Path offsets = shard.resolve("packed.offset");
    ByteBuffer bytes = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(0, prefix);
    if (Files.exists(offsets)) {
      ByteBuffer entry = entry(offsets);
      int number = Entry.chunkId(entry.getLong(8));
      put(shard.resolve("chunk/" + number + ".zr"), entry.getLong(0), bytes);
    } else {
      ShardOnDisk files = ShardOnDisk.of(shard);
      put(files.chunk(0), files.offset(idOf("packed"), 1), bytes);
    }
  }

  private static void putLong(Path file, long position, long value) throws IOException {
    put(file, position, ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(0, value));
  }

  private static void put(Path file, long position, ByteBuffer bytes) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.write(bytes, position);
    }
  }
}
