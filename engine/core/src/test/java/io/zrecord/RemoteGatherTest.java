package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.Budget;
import io.zrecord.testing.UnmappedStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a gather asks of a storage whose files are not mapped. */
final class RemoteGatherTest {
  private static final int SHARDS = 3;
  private static final int REGION_BYTES = 1 << 20;

  /** Ranges nearer to each other are one request. */
  private static final int JOINED_BYTES = 256 << 10;

  @TempDir
  Path directory;

  @AfterEach
  void forgetShards() {
    OpenShards.shared().clear();
  }

  private void write(RecordSchema schema, int count, int bytes) {
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(directory.toString(), schema, options)) {
      for (int shard = 0; shard < SHARDS; shard++) {
        ShardWriter records = writer.newAppender().shard();
        for (int i = 0; i < count; i++) {
          byte[] value = value(shard * count + i, bytes);
          records.put(0, value, 0, value.length);
          records.endRecord();
        }
      }
      writer.commit();
    }
  }

  private static byte[] value(int number, int bytes) {
    byte[] value = new byte[bytes];
    new Random(number).nextBytes(value);
    ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN).putInt(0, number);
    return value;
  }

  private static void requireGathered(FieldReader reader, long[] indices, int bytes) {
    reader.select(indices, 0, indices.length);
    byte[] all = new byte[(int) reader.totalLengthBytes()];
    reader.copyAll(all, 0);
    for (int i = 0; i < indices.length; i++) {
      byte[] expected = value((int) indices[i], bytes);
      assertThat(reader.value(i)).isEqualTo(expected);
      assertThat(Arrays.copyOfRange(all, i * bytes, (i + 1) * bytes)).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "BYTES, raw, 400, 65536, FIRST",
    "BYTES, raw, 400, 65536, NEVER",
    "BYTES, raw, 20000, 300, FIRST",
    "BYTES, raw, 20000, 300, ALWAYS",
    "BYTES, zstd, 20000, 300, FIRST",
    "BYTES, zstd, 300, 40000, FIRST",
    "I32, raw, 300000, 4, FIRST",
    "I32, lz4, 300000, 4, FIRST"
  })
  void aGatherAsksForWhatItNeedsAndNotMore(
      ElementType.Kind kind, String codec, int count, int bytes, Verification verification) {
    ElementType type = kind == ElementType.Kind.I32 ? ElementType.I32 : ElementType.BYTES;
    RecordSchema schema = RecordSchema.builder()
        .field("v", type, Shape.scalar(), Compression.parse(codec))
        .build();
    write(schema, count, bytes);
    UnmappedStorage storage = new UnmappedStorage(LocalStorage.at(directory), REGION_BYTES);
    Random random = Budget.random();
    try (RecordDataset dataset =
        RecordDataset.open(storage, new ReadOptions(verification, new ReadMetrics()))) {
      FieldReader reader = dataset.reader("v");
      requireGathered(reader, new long[] {0, count, 2L * count}, bytes);
      for (int size : new int[] {1, 5, 64}) {
        long[] indices = random.longs(size, 0, (long) SHARDS * count).toArray();
        // The tables of these places are known then.
        reader.select(indices, 0, size);
        storage.begin(0);
        requireGathered(reader, indices, bytes);
        assertThat(storage.requests()).isLessThanOrEqualTo(size);
        // A unit or a block has up to 64 KiB, and so has a value here.
        assertThat(storage.requestedBytes())
            .isLessThanOrEqualTo(size * (long) (Math.max(bytes, 1 << 16) + JOINED_BYTES));
      }
    }
  }

  @Test
  void smallFilesAreReadOnceAndWhole() {
    int count = 10_000;
    write(RecordSchema.builder().field("v", ElementType.I32).build(), count, 4);
    UnmappedStorage storage = new UnmappedStorage(LocalStorage.at(directory), REGION_BYTES);
    ReadMetrics metrics = new ReadMetrics();
    try (RecordDataset dataset =
        RecordDataset.open(storage, new ReadOptions(Verification.FIRST, metrics))) {
      FieldReader reader = dataset.reader("v");
      for (int shard = 0; shard < SHARDS; shard++) {
        // The tables are known then, and so is the file.
        requireGathered(reader, new long[] {(long) shard * count}, 4);
      }
      assertThat(metrics.requests.sum()).isEqualTo(SHARDS);
      assertThat(metrics.bytesRequested.sum()).isBetween(4L * SHARDS * count, 5L * SHARDS * count);
      storage.begin(0);
      requireGathered(reader, new long[] {9_999, 5_000, 10_000, 25_000}, 4);
      assertThat(storage.requests()).isZero();
      assertThat(metrics.regionHits.sum()).isEqualTo(3);
    }
  }

  @ParameterizedTest
  @CsvSource({"1000, 4", "100000, 4"})
  void bytesThatCameWrongAreReadAgain(int count, int bytes) throws IOException {
    write(RecordSchema.builder().field("v", ElementType.I32).build(), count, bytes);
    UnmappedStorage storage = new UnmappedStorage(LocalStorage.at(directory), REGION_BYTES);
    try (RecordDataset dataset = RecordDataset.open(storage, ReadOptions.defaults())) {
      FieldReader reader = dataset.reader("v");
      long[] indices = {5, count - 1, count};
      flipBytes();
      assertThatThrownBy(() -> requireGathered(reader, indices, bytes))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("came alike, so the file is damaged");
      flipBytes();
      requireGathered(reader, indices, bytes);
    }
  }

  @ParameterizedTest
  @CsvSource({"I32, 100000, 4, raw", "BYTES, 300, 40000, raw", "BYTES, 300, 40000, zstd"})
  void bytesThatComeWrongOnceAreNoDamage(
      ElementType.Kind kind, int count, int bytes, String codec) {
    ElementType type = kind == ElementType.Kind.I32 ? ElementType.I32 : ElementType.BYTES;
    write(
        RecordSchema.builder()
            .field("v", type, Shape.scalar(), Compression.parse(codec))
            .build(),
        count,
        bytes);
    UnmappedStorage storage = new UnmappedStorage(LocalStorage.at(directory), REGION_BYTES);
    ReadMetrics metrics = new ReadMetrics();
    try (RecordDataset dataset =
        RecordDataset.open(storage, new ReadOptions(Verification.FIRST, metrics))) {
      FieldReader reader = dataset.reader("v");
      long[] last = {count - 1};
      storage.spoilNext(1);
      requireGathered(reader, last, bytes);
      storage.spoilNext(1);
      reader.selectRange(count - 1, 1, Long.MAX_VALUE);
      assertThat(reader.value(0)).isEqualTo(value(count - 1, bytes));
      assertThat(metrics.checksumFailures.sum()).isPositive();
      OpenShards.shared().clear();
      storage.spoilNext(2);
      assertThatThrownBy(() -> requireGathered(dataset.reader("v"), last, bytes))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("asked for twice");
    }
  }

  @ParameterizedTest
  @CsvSource({"1000, 4", "100000, 4"})
  void bytesOfPromotedValuesThatCameWrongAreReadAgain(int count, int bytes) throws IOException {
    write(RecordSchema.builder().field("v", ElementType.I32).build(), count, bytes);
    RecordTable.at(LocalStorage.at(directory)).promoteField("v", ElementType.I64);
    UnmappedStorage storage = new UnmappedStorage(LocalStorage.at(directory), REGION_BYTES);
    try (RecordDataset dataset = RecordDataset.open(storage, ReadOptions.defaults())) {
      FieldReader reader = dataset.reader("v");
      long[] indices = {5, count - 1, count};
      flipBytes();
      assertThatThrownBy(() -> reader.select(indices, 0, 3))
          .isInstanceOf(CorruptDataException.class);
      flipBytes();
      reader.select(indices, 0, 3);
      for (int i = 0; i < 3; i++) {
        ByteBuffer value = ByteBuffer.wrap(reader.value(i)).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(value.getLong()).isEqualTo(indices[i]);
      }
    }
  }

  /** Flips the last byte of each file of values, which is right again after the second call. */
  private void flipBytes() throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file :
          (Iterable<Path>) files.filter(at -> at.toString().endsWith(".zr"))::iterator) {
        byte[] content = Files.readAllBytes(file);
        content[content.length - 1] ^= 1;
        Files.write(file, content);
      }
    }
  }

  @Test
  void requestsOfAGatherAreInFlightTogether() {
    int bytes = 65_536;
    int count = 400;
    write(RecordSchema.builder().field("v", ElementType.BYTES).build(), count, bytes);
    UnmappedStorage storage = new UnmappedStorage(LocalStorage.at(directory), REGION_BYTES);
    try (RecordDataset dataset = RecordDataset.open(storage, ReadOptions.defaults())) {
      FieldReader reader = dataset.reader("v");
      long[] indices = new long[48];
      for (int i = 0; i < indices.length; i++) {
        indices[i] = 25L * i;
      }
      requireGathered(reader, indices, bytes);
      storage.beginTogether(indices.length);
      requireGathered(reader, indices, bytes);
      assertThat(storage.requests()).isEqualTo(indices.length);
      assertThat(storage.mostInFlight()).isEqualTo(indices.length);
    }
  }
}
