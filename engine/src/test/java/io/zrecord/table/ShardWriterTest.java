package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.shard.Transform;
import io.zrecord.shard.WriteOptions;
import io.zrecord.testing.Budget;
import io.zrecord.testing.MemoryStorage;
import io.zrecord.testing.ShardProbe;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ShardWriterTest {
  static final WriteOptions SMALL = new WriteOptions(
      1L << 40, 64 << 10, 8, 0, Transform.AUTO, Checksum.CRC32C, Durability.COMMIT);
  private static final List<Transform> TRANSFORMS = List.of(Transform.values());
  private static final UUID ID = UUID.fromString("9f0c2b9e-6a50-4d0c-a8b1-6c8f7f0e2c11");

  private final MemoryStorage storage = new MemoryStorage();

  private ShardWriter writer(RecordSchema schema, WriteOptions options) {
    return ShardWriter.create(storage, ID, schema, options);
  }

  private static RecordSchema schema(ElementType... types) {
    RecordSchema.Builder builder = RecordSchema.builder();
    for (ElementType type : types) {
      builder.field("f" + type, type);
    }
    return builder.build();
  }

  private static byte[] bytes(int length, int seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static byte[] littleEndian(int value) {
    return ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array();
  }

  @Test
  void scalarsAreStoredLittleEndian() {
    RecordSchema schema = schema(
        ElementType.I8,
        ElementType.I16,
        ElementType.I32,
        ElementType.I64,
        ElementType.F32,
        ElementType.F64);
    try (ShardWriter writer = writer(schema, SMALL)) {
      writer.putByte(0, (byte) -2);
      writer.putShort(1, (short) 0x0102);
      writer.putInt(2, 0x01020304);
      writer.putLong(3, 0x0102030405060708L);
      writer.putFloat(4, Float.intBitsToFloat(0x7fa00001));
      writer.putDouble(5, Double.longBitsToDouble(0x7ff4000000000001L));
      writer.endRecord();
      writer.finish();
    }
    ShardProbe shard = ShardProbe.read(storage, ID);
    assertThat(shard.value(0, 0)).containsExactly(-2);
    assertThat(shard.value(1, 0)).containsExactly(2, 1);
    assertThat(shard.value(2, 0)).containsExactly(4, 3, 2, 1);
    assertThat(shard.value(3, 0)).containsExactly(8, 7, 6, 5, 4, 3, 2, 1);
    assertThat(shard.value(4, 0)).containsExactly(1, 0, 0xa0, 0x7f);
    assertThat(shard.value(5, 0)).containsExactly(1, 0, 0, 0, 0, 0, 0xf4, 0x7f);
  }

  @Test
  void aSummarySaysWhatTheFilesSay() {
    try (ShardWriter writer =
        writer(schema(ElementType.I32, ElementType.BYTES), SMALL.withChunkBytes(64 << 10))) {
      for (int i = 0; i < 5000; i++) {
        writer.putInt(0, i);
        writer.put(1, bytes(i % 50, i), 0, i % 50);
        writer.endRecord();
      }
      assertThat(writer.recordCount()).isEqualTo(5000);
      ShardSummary summary = writer.finish().orElseThrow();
      ShardProbe shard = ShardProbe.read(storage, ID);
      assertThat(summary.id()).isEqualTo(ID);
      assertThat(summary.length()).isEqualTo(5000);
      TablesRef tables = summary.tables().get(0);
      assertThat(summary.tables()).hasSize(1);
      byte[] file = storage.read(summary.directory() + "/" + tables.fileName(), 1 << 24);
      assertThat(tables.bytes()).isEqualTo(file.length);
      assertThat(tables.jsonPosition() + tables.jsonBytes() + 16).isEqualTo(file.length);
      assertThat(new String(
              file, (int) tables.jsonPosition(), tables.jsonBytes(), StandardCharsets.US_ASCII))
          .startsWith("{\"format\":2,")
          .endsWith(String.format("\"%08x\"}\n", tables.jsonChecksum()));
      assertThat(tables.fieldIds()).containsExactly(1, 2);
      assertThat(shard.chunkBytes()).hasSizeGreaterThan(1);
      assertThat(summary.chunks()).extracting(ChunkFile::bytes).isEqualTo(shard.chunkBytes());
      assertThat(summary.chunkBytes())
          .isEqualTo(shard.chunkBytes().stream().mapToLong(Long::longValue).sum());
      assertThat(summary.valueBytes())
          .containsEntry(1, 20_000L)
          .containsEntry(2, 100L * (49 * 50 / 2));
      assertThat(writer.writtenBytes()).isEqualTo(summary.chunkBytes());
    }
    assertThat(storage.openFileCount()).isZero();
  }

  @Test
  void emptyAndAbsentDiffer() {
    RecordSchema schema = RecordSchema.builder()
        .field("raw", ElementType.BYTES)
        .field("zstd", ElementType.UTF8, Shape.scalar(), Compression.of(Codec.ZSTD))
        .field("none", ElementType.F32, Shape.of(0, 3), Compression.RAW)
        .field("any", ElementType.F32, Shape.of(-1, 3), Compression.RAW)
        .build();
    try (ShardWriter writer = writer(schema, SMALL)) {
      for (int i = 0; i < 4; i++) {
        for (int f = 0; f < 4 && i % 2 == 0; f++) {
          writer.put(f, new byte[0], 0, 0);
        }
        writer.endRecord();
      }
      writer.finish();
    }
    ShardProbe shard = ShardProbe.read(storage, ID);
    for (int f = 0; f < 4; f++) {
      assertThat(shard.value(f, 0)).isEmpty();
      assertThat(shard.value(f, 1)).isNull();
      assertThat(shard.value(f, 2)).isEmpty();
      assertThat(shard.value(f, 3)).isNull();
      assertThat(shard.absentCount(f)).isEqualTo(2);
    }
  }

  @Test
  void aFieldThatIsNeverPutIsAbsentEverywhere() {
    try (ShardWriter writer = writer(schema(ElementType.I32, ElementType.BYTES), SMALL)) {
      for (int i = 0; i < 100_000; i++) {
        writer.endRecord();
      }
      writer.finish();
    }
    ShardProbe shard = ShardProbe.read(storage, ID);
    assertThat(shard.absentCount(0)).isEqualTo(100_000);
    assertThat(shard.absentCount(1)).isEqualTo(100_000);
  }

  @Test
  void aSchemaWithoutFieldsHasRecordsToo() {
    try (ShardWriter writer = writer(new RecordSchema(List.of()), SMALL)) {
      for (int i = 0; i < 5; i++) {
        writer.endRecord();
      }
      assertThat(writer.finish().orElseThrow().length()).isEqualTo(5);
    }
    assertThat(ShardProbe.read(storage, ID).length()).isEqualTo(5);
  }

  @Test
  void theFirstAbsentValueMayComeLate() {
    int count = 600_000;
    int absent = 550_001;
    try (ShardWriter writer = writer(schema(ElementType.I8, ElementType.I32), SMALL)) {
      for (int i = 0; i < count; i++) {
        writer.putByte(0, (byte) i);
        if (i != absent) {
          writer.putInt(1, i);
        }
        writer.endRecord();
      }
      writer.finish();
    }
    ShardProbe shard = ShardProbe.read(storage, ID);
    assertThat(shard.sectionBytes(0, "validity")).isZero();
    assertThat(shard.value(1, absent)).isNull();
    assertThat(shard.value(1, absent - 1)).isEqualTo(littleEndian(absent - 1));
    assertThat(shard.value(1, absent + 1)).isEqualTo(littleEndian(absent + 1));
    // 600,000 bits are in 19 units of at most 4,096 bytes, each with a checksum.
    assertThat(shard.sectionBytes(1, "validity")).isEqualTo(75_000 + 19 * 8);
  }

  /** The last u64 of bits takes memory, for which full segments go to the file of the spool. */
  @Test
  void theLastBitsOfManyFieldsMaySpill() {
    int fields = 40;
    RecordSchema.Builder schema = RecordSchema.builder();
    for (int f = 0; f < fields; f++) {
      schema.field("f" + f, ElementType.I32);
    }
    int count = 4_097;
    try (ShardWriter writer = writer(schema.build(), SMALL)) {
      for (int i = 0; i < count; i++) {
        for (int f = 0; f < fields; f++) {
          if (i != f) {
            writer.putInt(f, i);
          }
        }
        writer.endRecord();
      }
      writer.finish();
    }
    ShardProbe shard = ShardProbe.read(storage, ID);
    for (int f = 0; f < fields; f++) {
      assertThat(shard.value(f, f)).isNull();
      assertThat(shard.value(f, count - 1)).isEqualTo(littleEndian(count - 1));
    }
  }

  @Test
  void valuesOfOneFieldStandNextToEachOther() {
    try (ShardWriter writer = writer(schema(ElementType.I32, ElementType.BYTES), SMALL)) {
      for (int i = 0; i < 500; i++) {
        writer.putInt(0, i);
        writer.put(1, bytes(20, i), 0, 20);
        writer.endRecord();
      }
      writer.finish();
    }
    ShardProbe shard = ShardProbe.read(storage, ID);
    byte[] chunk = shard.chunkFile(0);
    for (int i = 0; i < 500; i++) {
      assertThat(Arrays.copyOfRange(chunk, 64 + 4 * i, 68 + 4 * i)).isEqualTo(littleEndian(i));
      int at = 64 + 2000 + 20 * i;
      assertThat(Arrays.copyOfRange(chunk, at, at + 20)).isEqualTo(bytes(20, i));
    }
    assertThat(shard.runCount(0)).isOne();
  }

  @Test
  void runsThatTouchAreOne() {
    int count = 3_000_000;
    try (ShardWriter writer = writer(schema(ElementType.I64), SMALL.withChunkBytes(16 << 20))) {
      for (int i = 0; i < count; i++) {
        writer.putLong(0, i);
        writer.endRecord();
      }
      writer.finish();
    }
    ShardProbe shard = ShardProbe.read(storage, ID);
    assertThat(shard.chunkBytes()).hasSize(2);
    assertThat(shard.runCount(0)).isEqualTo(2);
  }

  @Test
  void chunksAreClosedByBytes() {
    int chunkBytes = 100_000;
    RecordSchema schema = schema(ElementType.I32, ElementType.BYTES);
    int[] lengths = Budget.random().ints(2000, 0, 3000).toArray();
    try (ShardWriter writer = writer(schema, SMALL.withChunkBytes(chunkBytes))) {
      for (int i = 0; i < lengths.length; i++) {
        writer.putInt(0, i);
        writer.put(1, bytes(lengths[i], i), 0, lengths[i]);
        writer.endRecord();
      }
      writer.finish();
    }
    ShardProbe shard = ShardProbe.read(storage, ID);
    List<Long> chunks = shard.chunkBytes();
    // Fewer have less than 2.5 MB; the values have 3 MB, with a deviation of 0.04 MB.
    assertThat(chunks).hasSizeGreaterThan(15);
    for (long chunk : chunks.subList(0, chunks.size() - 1)) {
      // The stripe that closes the chunk is smaller than the memory.
      assertThat(chunk).isBetween((long) chunkBytes, chunkBytes + (64L << 10));
    }
  }

  @Test
  void oversizedValuesGoStraightToTheChunk() {
    RecordSchema schema = RecordSchema.builder()
        .field("a", ElementType.BYTES)
        .field("b", ElementType.BYTES, Shape.scalar(), Compression.of(Codec.LZ4))
        .field("c", ElementType.U8, Shape.of(1_000_003), Compression.RAW)
        .field("d", ElementType.I32)
        .build();
    byte[] large = bytes(3_000_001, 1);
    byte[] even = new byte[2_500_000];
    byte[] tensor = bytes(1_000_003, 2);
    try (ShardWriter writer = writer(schema, SMALL)) {
      for (int i = 0; i < 6; i++) {
        writer.putInt(3, i);
        if (i % 2 == 0) {
          writer.put(0, large, i, large.length - i);
          writer.put(1, large, 0, large.length);
          writer.put(2, tensor, 0, tensor.length);
        } else {
          writer.put(0, large, 0, i);
          writer.put(1, even, 0, even.length);
        }
        writer.endRecord();
      }
      writer.finish();
    }
    ShardProbe shard = ShardProbe.read(storage, ID);
    for (int i = 0; i < 6; i++) {
      assertThat(shard.value(3, i)).isEqualTo(littleEndian(i));
      if (i % 2 == 0) {
        assertThat(shard.value(0, i)).isEqualTo(Arrays.copyOfRange(large, i, large.length));
        assertThat(shard.value(1, i)).isEqualTo(large);
        assertThat(shard.value(2, i)).isEqualTo(tensor);
      } else {
        assertThat(shard.value(0, i)).isEqualTo(Arrays.copyOf(large, i));
        assertThat(shard.value(1, i)).isEqualTo(even);
        assertThat(shard.value(2, i)).isNull();
      }
    }
  }

  @Test
  void largeAndSmallValuesOfAFieldStayInOrder() {
    byte[] value = bytes(100_000, 3);
    try (ShardWriter writer = writer(schema(ElementType.BYTES, ElementType.I32), SMALL)) {
      for (int i = 0; i < 200; i++) {
        writer.put(0, value, 0, i % 7 == 0 ? value.length : 50 * i);
        writer.putInt(1, i);
        writer.endRecord();
      }
      writer.finish();
    }
    ShardProbe shard = ShardProbe.read(storage, ID);
    assertThat(shard.chunkBytes()).hasSize(1);
    for (int i = 1; i < 200; i++) {
      assertThat(shard.offset(0, i)).as("record %s", i).isGreaterThan(shard.offset(0, i - 1));
    }
  }

  @Test
  void valuesComeBackWhateverTheSchemaAndTheLimits() {
    Random random = Budget.random();
    for (int round = 0; round < Budget.of(60); round++) {
      WriteOptions options = new WriteOptions(
          (64 << 10) + random.nextInt(1 << 20),
          64 << 10,
          random.nextBoolean() ? 8 : 8L << random.nextInt(18),
          random.nextBoolean() ? 0 : 4096L << random.nextInt(5),
          TRANSFORMS.get(random.nextInt(4)),
          random.nextInt(4) == 0 ? Checksum.NONE : Checksum.CRC32C,
          Durability.NONE);
      RecordSchema schema = randomSchema(random);
      byte[][][] records = new byte[random.nextInt(2000) + 1][schema.fields().size()][];
      UUID id = new UUID(Budget.seed(), round);
      try (ShardWriter writer = ShardWriter.create(storage, id, schema, options)) {
        for (byte[][] record : records) {
          fill(record, schema, random);
          for (int f = 0; f < record.length; f++) {
            if (record[f] != null) {
              writer.put(f, record[f], 0, record[f].length);
            }
          }
          writer.endRecord();
        }
        writer.finish();
      }
      ShardProbe shard = ShardProbe.read(storage, id, options.alignBytes());
      for (int i = 0; i < records.length; i++) {
        for (int f = 0; f < records[i].length; f++) {
          if (!Arrays.equals(shard.value(f, i), records[i][f])) {
            throw new AssertionError(
                "round " + round + ", record " + i + ", " + schema.fields().get(f));
          }
        }
      }
      storage.delete("shard");
    }
  }

  private static RecordSchema randomSchema(Random random) {
    RecordSchema.Builder builder = RecordSchema.builder();
    int fields = random.nextInt(12) == 0 ? 60 : 1 + random.nextInt(6);
    for (int f = 0; f < fields; f++) {
      Compression compression = random.nextInt(3) > 0
          ? Compression.RAW
          : Compression.of(
              List.of(Codec.RAW, Codec.FLATE, Codec.ZSTD, Codec.LZ4).get(random.nextInt(4)));
      switch (random.nextInt(4)) {
        case 0 -> builder.field("f" + f, ElementType.BYTES, Shape.scalar(), compression);
        case 1 -> builder.field("f" + f, ElementType.I16, Shape.of(-1, 2), compression);
        case 2 ->
          builder.field("f" + f, ElementType.U8, Shape.of(random.nextInt(300)), compression);
        default ->
          builder.field(
              "f" + f,
              List.of(
                      ElementType.BOOL,
                      ElementType.I16,
                      ElementType.F64,
                      ElementType.decimal(38, 2))
                  .get(random.nextInt(4)),
              Shape.scalar(),
              compression);
      }
    }
    return builder.build();
  }

  private static void fill(byte[][] record, RecordSchema schema, Random random) {
    for (int f = 0; f < record.length; f++) {
      if (random.nextInt(5) == 0) {
        continue;
      }
      int any = random.nextInt(200) == 0 ? 4 * random.nextInt(10_000) : 4 * random.nextInt(20);
      byte[] value = new byte[schema.fields().get(f).valueWidthBytes().orElse(any)];
      if (random.nextBoolean()) {
        random.nextBytes(value);
      }
      record[f] = value;
    }
  }

  @Test
  void wrongValuesAreRefusedByName() {
    RecordSchema schema = RecordSchema.builder()
        .field("image", ElementType.U8, Shape.of(2, 3), Compression.RAW)
        .field("points", ElementType.F32, Shape.of(-1, 3), Compression.RAW)
        .field("label", ElementType.I32)
        .field("text", ElementType.UTF8)
        .build();
    assertRefused(schema, w -> w.put(0, new byte[5], 0, 5), "'image'", "5 bytes", "exactly 6");
    assertRefused(
        schema, w -> w.put(1, new byte[16], 0, 16), "'points'", "16 bytes", "multiple of 12");
    assertRefused(schema, w -> w.putLong(2, 1), "'label'", "8 bytes", "exactly 4");
    assertRefused(schema, w -> w.putInt(3, 1), "'text'", "4 bytes");
    assertRefused(schema, w -> w.put(3, new byte[3], 1, 3), "out of bounds");
    assertRefused(schema, w -> w.putInt(4, 1), "4");
    assertRefused(
        schema,
        w -> {
          w.putInt(2, 1);
          w.putInt(2, 2);
        },
        "'label'",
        "twice");
  }

  private void assertRefused(
      RecordSchema schema, java.util.function.Consumer<ShardWriter> mistake, String... parts) {
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), schema, SMALL)) {
      assertThatThrownBy(() -> mistake.accept(writer)).hasMessageContainingAll(parts);
      assertThatThrownBy(writer::endRecord).isInstanceOf(IllegalStateException.class);
      assertThatThrownBy(writer::finish).isInstanceOf(IllegalStateException.class);
    }
    assertThat(storage.names()).isEmpty();
    assertThat(storage.openFileCount()).isZero();
  }

  @Test
  void aRecordThatWasNotEndedIsNotDroppedSilently() {
    try (ShardWriter writer = writer(schema(ElementType.I32), SMALL)) {
      writer.putInt(0, 1);
      writer.endRecord();
      writer.putInt(0, 2);
      assertThatThrownBy(writer::finish)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("endRecord");
    }
    assertThat(storage.names()).isEmpty();
  }

  @Test
  void withoutARecordNothingIsWritten() {
    try (ShardWriter writer = writer(schema(ElementType.I32), SMALL)) {
      assertThat(writer.finish()).isEqualTo(Optional.empty());
      assertThat(writer.recordCount()).isZero();
    }
    assertThat(storage.log()).isEmpty();
  }

  @Test
  void aFinishedShardStaysAndTheWriterIsOver() {
    ShardWriter writer = writer(schema(ElementType.I32), SMALL);
    writer.putInt(0, 1);
    writer.endRecord();
    writer.finish();
    assertThatThrownBy(() -> writer.putInt(0, 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("finished");
    assertThatThrownBy(writer::finish).isInstanceOf(IllegalStateException.class);
    writer.close();
    writer.close();
    assertThat(ShardProbe.read(storage, ID).length()).isOne();
    assertThatThrownBy(writer::endRecord)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  @Test
  void aDirectoryThatExistsIsLeftAlone() {
    try (ShardWriter first = writer(schema(ElementType.I32), SMALL)) {
      first.putInt(0, 7);
      first.endRecord();
      first.finish();
    }
    try (ShardWriter second = writer(schema(ElementType.I32), SMALL)) {
      assertThatThrownBy(() -> second.putInt(0, 8))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining(ID.toString());
    }
    try (ShardWriter third = writer(schema(ElementType.I32), SMALL)) {
      third.finish();
    }
    assertThat(ShardProbe.read(storage, ID).value(0, 0)).isEqualTo(littleEndian(7));
  }
}
