package io.zrecord.rebalance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compressed values that are copied without being decoded. */
class StoredValuesTest {
  private static final Compression ZSTD = Compression.of(Codec.ZSTD);
  private static final Compression LZ4 = Compression.of(Codec.LZ4);
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I64)
      .field("text", ElementType.UTF8, Shape.scalar(), ZSTD)
      .field("pixels", ElementType.U8, Shape.of(20, 20), LZ4)
      .build();
  private static final WriteOptions WRITE = WriteOptions.defaults()
      .withStripeBytes(1 << 16)
      .withBlockBytes(0)
      .withDurability(Durability.NONE);
  private static final int COUNT = 700;

  @TempDir
  Path directory;

  private Storage storage;

  @BeforeEach
  void open() {
    storage = LocalStorage.at(directory);
  }

  private static byte[] text(int number) {
    return ("text " + number + " ").repeat(number % 40).getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] pixels(int number) {
    byte[] pixels = new byte[400];
    pixels[number % 400] = (byte) number;
    return pixels;
  }

  /** Makes what a writer stores that found no use in compressing, though there was some. */
  private static byte[] storedAsIs(byte[] value) {
    return ByteBuffer.allocate(4 + value.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(value.length | 1 << 31)
        .put(value)
        .array();
  }

  /** Writes compressible values, stored as they are. */
  private ShardSummary write(WriteOptions options) {
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, options)) {
      for (int i = 0; i < COUNT; i++) {
        writer.putLong(0, i);
        if (i % 7 != 0) {
          byte[] stored = storedAsIs(text(i));
          writer.putStored(1, stored, 0, stored.length);
        }
        if (i % 5 != 0) {
          byte[] stored = storedAsIs(pixels(i));
          writer.putStored(2, stored, 0, stored.length);
        }
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private RebalancePlan plan(WriteOptions options, Map<String, Compression> compression) {
    TableSnapshot snapshot = RecordTable.at(storage)
        .commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA)
            .shards(List.of(write(options), write(options)))
            .build());
    return RebalancePlan.of(
        snapshot,
        RebalanceOptions.defaults().withAllShards().withWrite(WRITE).withCompression(compression));
  }

  private static void check(TableSnapshot snapshot) {
    try (RecordDataset dataset = RecordDataset.open(snapshot, ReadOptions.defaults())) {
      FieldReader text = dataset.reader("text");
      FieldReader pixels = dataset.reader("pixels");
      assertThat(text.selectRange(0, 2 * COUNT, 1L << 30)).isEqualTo(2 * COUNT);
      assertThat(pixels.selectRange(0, 2 * COUNT, 1L << 30)).isEqualTo(2 * COUNT);
      for (int i = 0; i < 2 * COUNT; i++) {
        int number = i % COUNT;
        assertThat(text.isAbsent(i)).isEqualTo(number % 7 == 0);
        assertThat(text.value(i)).isEqualTo(number % 7 == 0 ? new byte[0] : text(number));
        assertThat(pixels.value(i)).isEqualTo(number % 5 == 0 ? new byte[0] : pixels(number));
      }
    }
  }

  private long valueBytes(int field) {
    return RecordTable.at(storage).latest().shards().stream()
        .mapToLong(shard -> shard.valueBytes().getOrDefault(field, 0L))
        .sum();
  }

  @Test
  void whatHasTheWantedCompressionIsTakenOverAsItIs() {
    RebalancePlan plan = plan(WRITE, Map.of());
    check(plan.snapshot());
    long texts = valueBytes(2);
    long pixels = valueBytes(3);
    assertThat(TableRebalance.of(plan).run().failures()).isEmpty();
    check(RecordTable.at(storage).latest());
    assertThat(valueBytes(2)).isEqualTo(texts);
    assertThat(valueBytes(3)).isEqualTo(pixels);
  }

  @Test
  void anotherLevelAndAnotherCodecAreNot() {
    RebalancePlan plan = plan(
        WRITE, Map.of("text", Compression.parse("zstd:9"), "pixels", Compression.parse("zstd")));
    long texts = valueBytes(2);
    long pixels = valueBytes(3);
    assertThat(TableRebalance.of(plan).run().failures()).isEmpty();
    check(RecordTable.at(storage).latest());
    assertThat(valueBytes(2)).isLessThan(texts / 2);
    assertThat(valueBytes(3)).isLessThan(pixels / 2);
  }

  @Test
  void withoutChecksumsValuesAreDecoded() {
    RebalancePlan plan = plan(WRITE.withChecksum(Checksum.NONE), Map.of());
    long texts = valueBytes(2);
    assertThat(TableRebalance.of(plan).run().failures()).isEmpty();
    check(RecordTable.at(storage).latest());
    assertThat(valueBytes(2)).isLessThan(texts / 2);
  }

  @Test
  void aDamagedValueIsFoundWithoutDecoding() throws Exception {
    // Nothing was read before: values that a process has verified are trusted.
    RebalancePlan plan = plan(WRITE, Map.of());
    TableData.damage(directory.resolve(plan.snapshot().shards().get(0).directory()));
    RebalanceResult result = TableRebalance.of(plan).run();
    assertThat(result.failures()).hasSize(1);
    assertThat(result.failures().get(0).reason()).contains("checksum");
  }

  @Test
  void storedBytesAreOfCompressedFieldsOnly() {
    ShardSummary shard = write(WRITE);
    try (RecordDataset dataset =
        RecordDataset.openShard(storage, SCHEMA, shard, ReadOptions.defaults())) {
      assertThat(dataset.storedReader("number", Compression.RAW)).isEmpty();
      assertThat(dataset.storedReader("text", LZ4)).isEmpty();
      FieldReader stored = dataset.storedReader("pixels", LZ4).orElseThrow();
      stored.select(new long[] {5, 3}, 0, 2);
      assertThat(stored.isAbsent(0)).isTrue();
      assertThat(stored.value(1)).isEqualTo(storedAsIs(pixels(3)));
    }
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, WRITE)) {
      assertThatThrownBy(() -> writer.putStored(0, new byte[8], 0, 8))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'number'");
    }
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, WRITE)) {
      assertThatThrownBy(() -> writer.putStored(1, new byte[8], 0, 3))
          .hasMessageContaining("4 or more");
    }
  }
}
