package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.MemoryStorage;
import io.zrecord.testing.ShardProbe;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where values begin, for each alignment that a writer can be asked for. */
class AlignedShardTest {
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withStripeBytes(1 << 20).withDurability(Durability.NONE);

  private final MemoryStorage storage = new MemoryStorage();

  private static byte[] bytes(int length, int seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  /** Writes the same records with any alignment. */
  private ShardProbe write(RecordSchema schema, int count, int largest, long alignBytes) {
    UUID id = UUID.randomUUID();
    WriteOptions options = OPTIONS.withAlignBytes(alignBytes);
    byte[][][] values = new byte[count][schema.fields().size()][];
    try (ShardWriter writer = ShardWriter.create(storage, id, schema, options)) {
      Random lengths = new Random(3);
      for (int i = 0; i < count; i++) {
        for (int f = 0; f < values[i].length; f++) {
          int length =
              schema.fields().get(f).valueWidthBytes().orElseGet(() -> lengths.nextInt(largest));
          values[i][f] = bytes(length, 31 * i + f);
          writer.put(f, values[i][f], 0, length);
        }
        writer.endRecord();
      }
      writer.finish();
    }
    ShardProbe shard = ShardProbe.read(storage, id, alignBytes);
    for (int i = 0; i < count; i++) {
      for (int f = 0; f < values[i].length; f++) {
        assertThat(shard.value(f, i)).as("field %s of record %s", f, i).isEqualTo(values[i][f]);
      }
    }
    return shard;
  }

  private static long chunkBytes(ShardProbe shard) {
    return shard.chunkBytes().stream().mapToLong(Long::longValue).sum();
  }

  private static RecordSchema schema(ElementType type, Shape shape, Compression compression) {
    return RecordSchema.builder().field("f", type, shape, compression).build();
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        8, 16, 32, 64, 128, 256, 512, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16,
        1 << 17, 1 << 18, 1 << 19, 1 << 20
      })
  void whatIsLongEnoughBeginsAtAMultiple(int alignBytes) {
    RecordSchema schema = RecordSchema.builder()
        .field("page", ElementType.U8, Shape.of(alignBytes), Compression.RAW)
        .field("label", ElementType.I16)
        .field("pixels", ElementType.F32, Shape.of(196), Compression.RAW)
        .field("blob", ElementType.BYTES)
        .field("text", ElementType.UTF8, Shape.scalar(), Compression.of(Codec.LZ4))
        .build();
    int count = Math.max(4, Math.min(3_000, (6 << 20) / alignBytes));
    ShardProbe shard = write(schema, count, Math.min(1 << 18, 3 * alignBytes), alignBytes);
    for (int i = 0; i < count; i++) {
      assertThat(shard.offset(0, i) % alignBytes).as("page %s", i).isZero();
    }
    if (alignBytes <= 4096) {
      assertThat(shard.offset(2, 0) % alignBytes).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 4096, 1 << 20})
  void tablesOfRunsGetNoLarger(int alignBytes) {
    RecordSchema schema = RecordSchema.builder()
        .field("page", ElementType.U8, Shape.of(4096), Compression.RAW)
        .field("label", ElementType.I16)
        .field("pixels", ElementType.F32, Shape.of(196), Compression.RAW)
        .build();
    ShardProbe aligned = write(schema, 2_000, 1, alignBytes);
    ShardProbe packed = write(schema, 2_000, 1, 8);
    for (int f = 0; f < 3; f++) {
      assertThat(aligned.runCount(f)).isEqualTo(packed.runCount(f));
    }
    assertThat(packed.runCount(0)).isGreaterThan(2);
    assertThat(chunkBytes(aligned) - chunkBytes(packed))
        .isLessThan((1L + 3L * packed.runCount(0)) * alignBytes);
  }

  /** A run that goes on is not broken to align its middle. */
  @ParameterizedTest
  @ValueSource(ints = {5, 784, 4096})
  void aLoneFieldIsOneRunFromAnAlignedPlace(int width) {
    RecordSchema schema = schema(ElementType.U8, Shape.of(width), Compression.RAW);
    int count = (5 << 20) / width;
    ShardProbe shard = write(schema, count, 1, 4096);
    assertThat(shard.runCount(0)).isOne();
    assertThat(shard.offset(0, 0)).isEqualTo(4096);
    assertThat(chunkBytes(shard)).isEqualTo(4096 + ((long) count * width + 7) / 8 * 8);
  }

  @Test
  void valuesThatAreWrittenWithoutAStripeAreAlignedToo() {
    RecordSchema schema = RecordSchema.builder()
        .field("label", ElementType.I8)
        .field("blob", ElementType.BYTES)
        .build();
    ShardProbe shard = write(schema, 8, 1 << 20, 4096);
    long wholePages = 0;
    for (int i = 0; i < 8; i++) {
      assertThat(shard.offset(1, i) % 4096).isZero();
      wholePages += (shard.value(1, i).length + 4095L) / 4096 * 4096;
    }
    assertThat(chunkBytes(shard)).isLessThanOrEqualTo(4096 + wholePages + 8);
  }

  @Test
  void shortAndCompressedValuesTakeNoMoreSpace() {
    for (RecordSchema schema : new RecordSchema[] {
      schema(ElementType.UTF8, Shape.scalar(), Compression.RAW),
      schema(ElementType.BYTES, Shape.scalar(), Compression.of(Codec.ZSTD)),
      schema(ElementType.F32, Shape.of(2_000), Compression.of(Codec.ZSTD))
    }) {
      int largest = schema.fields().get(0).compression().codec() == Codec.RAW ? 4_000 : 20_000;
      assertThat(chunkBytes(write(schema, 700, largest, 4096)))
          .isEqualTo(chunkBytes(write(schema, 700, largest, 8)));
    }
  }
}
