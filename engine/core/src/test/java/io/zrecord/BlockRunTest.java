package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.Transform;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectMemory;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.ShardOnDisk;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Values that are compressed together are what was written, whichever way they are read. */
class BlockRunTest {
  private static final WriteOptions OPTIONS = WriteOptions.defaults()
      .withDurability(Durability.NONE)
      .withStripeBytes(64 << 10)
      .withBlockBytes(4096)
      .withChunkBytes(200 << 10);

  private final long seed = Budget.seed();
  private final Random random = Budget.random();

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  private Storage storage;

  @BeforeEach
  void open() {
    storage = LocalStorage.at(directory);
  }

  private static FieldSpec field(ElementType type, Shape shape, String compression) {
    return new FieldSpec(1, "x", type, shape, Compression.parse(compression));
  }

  private static FieldSpec text(String compression) {
    return field(ElementType.UTF8, Shape.scalar(), compression);
  }

  private ShardSummary write(
      FieldSpec field, List<byte @Nullable []> values, WriteOptions options) {
    RecordSchema schema = new RecordSchema(List.of(field));
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), schema, options)) {
      for (byte[] value : values) {
        if (value != null) {
          writer.put(0, value, 0, value.length);
        }
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private RecordDataset read(FieldSpec field, ShardSummary shard, Verification verification) {
    return RecordDataset.openShard(
        storage,
        new RecordSchema(List.of(field)),
        shard,
        new RecordDataset.ReadOptions(verification, new ReadMetrics()));
  }

  private ShardOnDisk onDisk(ShardSummary shard) {
    return ShardOnDisk.of(directory.resolve(shard.directory()));
  }

  private void requireRoundTrip(
      FieldSpec field, List<byte @Nullable []> values, WriteOptions options) {
    ShardSummary shard = write(field, values, options);
    assertThat(onDisk(shard).field(1).blockBytes()).isPositive();
    assertThat(shard.valueBytes()).containsEntry(1, onDisk(shard).field(1).valueBytes());
    for (Verification verification : Verification.values()) {
      try (RecordDataset dataset = read(field, shard, verification)) {
        requireEqual(dataset.reader("x"), values);
      }
    }
  }

  private void requireEqual(FieldReader reader, List<byte @Nullable []> values) {
    for (long maxBytes : new long[] {1, 3000, 100_000, 1L << 40}) {
      for (int i = 0; i < values.size(); ) {
        int count = reader.selectRange(i, values.size() - i, maxBytes);
        long[] indices = new long[count];
        for (int k = 0; k < count; k++) {
          indices[k] = (long) i + k;
        }
        requireSelected(reader, values, indices);
        i += count;
        if (maxBytes == 1 && i > 200) {
          break;
        }
      }
    }
    int rounds = Math.max(2, Budget.of(6));
    for (int round = 0; round < rounds; round++) {
      long[] indices = random.longs(1 + random.nextInt(300), 0, values.size()).toArray();
      if (round % 2 == 0) {
        java.util.Arrays.sort(indices);
      }
      reader.select(indices, 0, indices.length);
      requireSelected(reader, values, indices);
    }
    for (int i = Math.max(4, Budget.of(20)); i > 0; i--) {
      long[] one = {random.nextInt(values.size())};
      reader.select(one, 0, 1);
      requireSelected(reader, values, one);
    }
  }

  private void requireSelected(FieldReader reader, List<byte @Nullable []> values, long[] indices) {
    int width = reader.field().valueWidthBytes().orElse(-1);
    ByteBuffer expected = ByteBuffer.allocate(Math.toIntExact(reader.totalLengthBytes()));
    assertThat(reader.count()).isEqualTo(indices.length);
    boolean hasAbsent = false;
    for (int k = 0; k < indices.length; k++) {
      byte[] value = values.get((int) indices[k]);
      hasAbsent |= value == null;
      if (reader.isAbsent(k) != (value == null)
          || reader.lengthBytes(k) != (value == null ? 0 : value.length)) {
        throw new AssertionError("seed " + seed + ", record " + indices[k]);
      }
      expected.put(value != null ? value : new byte[Math.max(0, width)]);
    }
    assertThat(reader.hasAbsent()).isEqualTo(hasAbsent);
    assertThat(expected.hasRemaining()).isFalse();
    ByteBuffer heap = ByteBuffer.allocate(expected.capacity());
    reader.copyAll(heap);
    assertThat(heap.array()).as("seed %s", seed).isEqualTo(expected.array());
    ByteBuffer direct = ByteBuffer.allocateDirect(expected.capacity());
    reader.copyAll(direct);
    assertThat(direct.flip()).isEqualTo(expected.flip());
    int k = random.nextInt(indices.length);
    byte[] value = values.get((int) indices[k]);
    byte[] present = value == null ? new byte[0] : value;
    assertThat(reader.value(k)).isEqualTo(present);
    ByteBuffer view = reader.view(k);
    assertThat(view.isReadOnly()).isTrue();
    assertThat(view.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
    assertThat(view).isEqualTo(ByteBuffer.wrap(present));
  }

  private List<byte @Nullable []> values(int count, int absentPart, IntFunction<byte[]> of) {
    List<byte @Nullable []> values = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      values.add(absentPart > 0 && random.nextInt(absentPart) == 0 ? null : of.apply(i));
    }
    return values;
  }

  private static byte[] sentence(int number) {
    return ("The record with the number " + number + " says what all say. ".repeat(number % 5))
        .getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] number(int width, long value) {
    byte[] all = ByteBuffer.allocate(16)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(value)
        .putLong(value >> 63)
        .array();
    return java.util.Arrays.copyOf(all, width);
  }

  @ParameterizedTest
  @ValueSource(strings = {"zstd:3", "lz4", "flate", "zstd:19"})
  void textsReadBack(String compression) {
    requireRoundTrip(text(compression), values(1500, 0, BlockRunTest::sentence), OPTIONS);
    requireRoundTrip(text(compression), values(1500, 7, BlockRunTest::sentence), OPTIONS);
  }

  @ParameterizedTest
  @EnumSource(Transform.class)
  void numbersOfEachWidthReadBack(Transform transform) {
    WriteOptions options = OPTIONS.withTransform(transform);
    for (ElementType type : new ElementType[] {
      ElementType.BOOL,
      ElementType.U16,
      ElementType.F32,
      ElementType.I64,
      ElementType.decimal(30, 2)
    }) {
      int width = type.widthBytes().orElseThrow();
      for (String compression : new String[] {"zstd:1", "lz4", "flate:1"}) {
        FieldSpec field = field(type, Shape.scalar(), compression);
        requireRoundTrip(
            field, values(5000, 0, i -> number(width, width == 1 ? i & 1 : 1000L * i)), options);
        requireRoundTrip(
            field,
            values(3000, 5, i -> number(width, width == 1 ? i & 1 : random.nextInt(100) - 50)),
            options);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Transform.class)
  void tensorsReadBack(Transform transform) {
    WriteOptions options = OPTIONS.withTransform(transform);
    requireRoundTrip(
        field(ElementType.I16, Shape.of(3, 5), "zstd"),
        values(2000, 9, i -> ramp(2, 15, i)),
        options);
    requireRoundTrip(
        field(ElementType.I32, Shape.of(-1), "zstd"),
        values(2000, 9, i -> ramp(4, random.nextInt(60), i)),
        options);
    requireRoundTrip(
        field(ElementType.U8, Shape.of(-1, 7), "lz4"),
        values(2000, 9, i -> ramp(1, 7 * random.nextInt(9), i)),
        options);
  }

  private static byte[] ramp(int width, int count, int first) {
    ByteBuffer values = ByteBuffer.allocate(count * width);
    for (int i = 0; i < count; i++) {
      values.put(number(width, 3L * first + i));
    }
    return values.array();
  }

  @ParameterizedTest
  @CsvSource({"0,3", "1,3", "4091,1", "4092,1", "4093,1", "4096,1", "2043,2", "2044,2", "2045,2"})
  void valuesAtTheEdgeOfABlockReadBack(int length, int neighbours) {
    // Many short values first, so that the field is written in blocks.
    List<byte @Nullable []> values = values(60_000, 0, i -> new byte[] {(byte) i});
    for (int i = 0; i < 5; i++) {
      for (int n = 0; n < neighbours; n++) {
        values.add(new byte[length]);
      }
      values.add(sentence(i));
      values.add(null);
    }
    requireRoundTrip(text("zstd"), values, OPTIONS);
  }

  @Test
  void longValuesAreBlocksOfTheirOwn() {
    List<byte @Nullable []> values = values(70_000, 0, i -> new byte[] {(byte) i});
    byte[] noise = new byte[300_000];
    random.nextBytes(noise);
    values.add(noise);
    values.add(new byte[3_000_000]);
    values.add(new byte[0]);
    values.add(noise);
    requireRoundTrip(text("zstd"), values, OPTIONS);
    requireRoundTrip(text("lz4"), values, OPTIONS);
  }

  @Test
  void whatDoesNotCompressIsStoredAsItIs() {
    FieldSpec field = field(ElementType.BYTES, Shape.scalar(), "zstd");
    List<byte @Nullable []> values = values(900, 0, i -> {
      byte[] noise = new byte[random.nextInt(50)];
      random.nextBytes(noise);
      return noise;
    });
    long bytes = values.stream().mapToLong(value -> value.length).sum();
    requireRoundTrip(field, values, OPTIONS);
    ShardSummary shard = write(field, values, OPTIONS);
    assertThat(shard.valueBytes().get(1)).isBetween(bytes, bytes + 4 * 900);
    FieldSpec numbers = field(ElementType.I64, Shape.scalar(), "lz4");
    List<byte @Nullable []> noise = values(5000, 0, i -> number(8, random.nextLong()));
    requireRoundTrip(numbers, noise, OPTIONS);
    assertThat(write(numbers, noise, OPTIONS).valueBytes()).containsEntry(1, 40_000L);
  }

  @Test
  void absentAndEmptyValuesReadBack() {
    requireRoundTrip(text("zstd"), values(10_000, 1, i -> new byte[0]), OPTIONS);
    requireRoundTrip(text("zstd"), values(10_000, 2, i -> new byte[0]), OPTIONS);
    requireRoundTrip(
        field(ElementType.I32, Shape.scalar(), "zstd"),
        values(10_000, 1, i -> number(4, i)),
        OPTIONS);
    List<byte @Nullable []> late = values(100_000, 0, i -> number(4, i));
    late.set(99_999, null);
    requireRoundTrip(field(ElementType.I32, Shape.scalar(), "zstd"), late, OPTIONS);
  }

  @Test
  void singleRecordsReadBack() {
    for (byte[] value : new byte[][] {null, {}, {1}, sentence(3)}) {
      List<byte @Nullable []> one = new ArrayList<>();
      one.add(value);
      requireRoundTrip(text("zstd"), one, OPTIONS);
    }
  }

  @Test
  void manyUnitsAndRunsReadBack() {
    FieldSpec field = field(ElementType.I32, Shape.scalar(), "lz4");
    List<byte @Nullable []> values = values(1_100_000, 0, i -> number(4, random.nextInt()));
    ShardSummary shard = write(field, values, OPTIONS.withChunkBytes(100 << 10));
    assertThat(onDisk(shard).runCount(1)).isGreaterThan(5);
    assertThat(onDisk(shard).field(1).offsets().bytes()).isGreaterThan(40_000);
    try (RecordDataset dataset = read(field, shard, Verification.FIRST)) {
      FieldReader reader = dataset.reader("x");
      for (int round = Budget.of(200); round > 0; round--) {
        long[] indices = random.longs(50, 0, values.size()).toArray();
        reader.select(indices, 0, 50);
        requireSelected(reader, values, indices);
      }
    }
  }

  @Test
  void valuesAcrossWindowsReadBack() {
    storage = new SmallWindowStorage(storage);
    requireRoundTrip(text("zstd"), values(3000, 6, BlockRunTest::sentence), OPTIONS);
    requireRoundTrip(
        field(ElementType.I64, Shape.scalar(), "zstd"),
        values(20_000, 6, i -> number(8, random.nextInt())),
        OPTIONS);
  }

  @Test
  void withoutChecksumsReadBack() {
    WriteOptions options = OPTIONS.withChecksum(Checksum.NONE);
    requireRoundTrip(text("zstd"), values(3000, 6, BlockRunTest::sentence), options);
  }

  @Test
  void longValuesOnAverageAreStoredOneByOne() {
    FieldSpec field = text("zstd");
    List<byte @Nullable []> longer = values(200, 0, i -> new byte[1024]);
    List<byte @Nullable []> shorter = values(200, 0, i -> new byte[1023]);
    assertThat(onDisk(write(field, longer, OPTIONS)).field(1).blockBytes()).isZero();
    assertThat(onDisk(write(field, shorter, OPTIONS)).field(1).blockBytes()).isEqualTo(4096);
    assertThat(onDisk(write(field, shorter, OPTIONS.withBlockBytes(0))).field(1).blockBytes())
        .isZero();
    FieldSpec image = field(ElementType.U8, Shape.of(32, 32), "zstd");
    assertThat(onDisk(write(image, longer, OPTIONS)).field(1).blockBytes()).isZero();
  }

  /** With the transform chosen by trial, numbers take no more than with any transform alone. */
  @Test
  void theChosenTransformIsTheBest() {
    FieldSpec field = field(ElementType.I64, Shape.scalar(), "zstd:1");
    List<byte @Nullable []> sorted = values(20_000, 0, i -> number(8, 1_000_000L * i));
    List<byte @Nullable []> labels = values(20_000, 0, i -> number(8, random.nextInt(1000)));
    for (List<byte @Nullable []> values : List.of(sorted, labels)) {
      WriteOptions options = OPTIONS.withStripeBytes(4 << 20).withBlockBytes(64 << 10);
      long least = Long.MAX_VALUE;
      for (Transform transform :
          new Transform[] {Transform.NONE, Transform.TRANSPOSE, Transform.DELTA}) {
        least = Math.min(
            least,
            write(field, values, options.withTransform(transform)).valueBytes().get(1));
      }
      assertThat(write(field, values, options).valueBytes().get(1)).isEqualTo(least);
    }
    // The label of 1,000 classes has 10 bits.
    assertThat(write(field, labels, OPTIONS.withStripeBytes(4 << 20).withBlockBytes(64 << 10))
            .valueBytes()
            .get(1))
        .isLessThan(20_000 * 27 / 20);
  }

  private byte[] longText(int seedOfValue, int length) {
    byte[] value = new byte[length];
    for (int i = 0; i < length; i += 997) {
      value[i] = (byte) (seedOfValue * 31 + i);
    }
    return value;
  }

  /** Who selects has not asked for lengths yet: the values may be far longer than expected. */
  @ParameterizedTest
  @EnumSource(Verification.class)
  void aSelectionOfLongValuesTakesNoMemoryForThem(Verification verification) {
    FieldSpec field = text("zstd");
    List<byte @Nullable []> values = new ArrayList<>();
    for (int i = 0; i < 30_000; i++) {
      values.add(i % 7 == 3 ? null : longText(i, i % 3000 == 2999 ? 1 << 20 : 10));
    }
    ShardSummary shard =
        write(field, values, WriteOptions.defaults().withDurability(Durability.NONE));
    assertThat(onDisk(shard).field(1).blockBytes()).isPositive();
    long[] indices =
        random.longs(200, 0, 10).map(i -> 3000 * i + 2998 + random.nextInt(2)).toArray();
    try (RecordDataset dataset = read(field, shard, verification)) {
      FieldReader reader = dataset.reader("x");
      long before = DirectMemory.settledBytes();
      reader.select(indices, 0, indices.length);
      assertThat(reader.totalLengthBytes()).isGreaterThan(30 << 20);
      assertThat(DirectMemory.usedBytes() - before).isLessThan(4 << 20);
      requireSelected(reader, values, indices);
      requireEqual(reader, values);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 4096})
  void anIdleReaderKeepsNoLongValue(int blockBytes) {
    int length = 100 << 20;
    FieldSpec field = text("zstd");
    ShardSummary shard =
        write(field, List.of(new byte[length], new byte[3]), OPTIONS.withBlockBytes(blockBytes));
    try (RecordDataset dataset = read(field, shard, Verification.FIRST)) {
      FieldReader reader = dataset.reader("x");
      reader.select(new long[] {1}, 0, 1);
      System.gc();
      long mostBytes = usedAfterCollection() + (40 << 20);
      reader.select(new long[] {0}, 0, 1);
      ByteBuffer direct = ByteBuffer.allocateDirect(length);
      reader.copyAll(direct);
      assertThat(reader.value(0)).hasSize(length);
      reader.select(new long[] {1}, 0, 1);
      // A collection may find what cleaners have not let go of yet.
      long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
      while (usedAfterCollection() >= mostBytes && System.nanoTime() < end) {
        Thread.onSpinWait();
      }
      assertThat(usedAfterCollection()).isLessThan(mostBytes);
      assertThat(reader.value(0)).hasSize(3);
    }
  }

  private static long usedAfterCollection() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, Long.MIN_VALUE, 0})
  void aBoundOfNoBytesGivesOneRecord(long maxBytes) {
    FieldSpec field = text("zstd");
    List<byte @Nullable []> values = values(100, 0, i -> new byte[0]);
    ShardSummary together = write(field, values, OPTIONS);
    ShardSummary oneByOne = write(field, values, OPTIONS.withBlockBytes(0));
    for (ShardSummary shard : List.of(together, oneByOne)) {
      try (RecordDataset dataset = read(field, shard, Verification.FIRST)) {
        assertThat(dataset.reader("x").selectRange(0, 100, maxBytes)).isBetween(1, 100);
      }
    }
  }

  /** Values that share a block with others are decoded at once, up to a bound. */
  @Test
  void aSelectionOfManyValuesTakesBoundedMemory() {
    FieldSpec field = text("zstd");
    List<byte @Nullable []> values = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      values.add(longText(i, 200_000));
    }
    ShardSummary shard = write(field, values, OPTIONS.withBlockBytes(1 << 20));
    long[] indices = random.longs(1700, 0, values.size()).toArray();
    try (RecordDataset dataset = read(field, shard, Verification.FIRST)) {
      FieldReader reader = dataset.reader("x");
      long before = DirectMemory.settledBytes();
      reader.select(indices, 0, indices.length);
      assertThat(reader.totalLengthBytes()).isEqualTo(1700L * 200_000);
      assertThat(DirectMemory.usedBytes() - before).isLessThan(300L << 20);
      byte[] value = new byte[200_000];
      for (int i = 0; i < indices.length; i += 41) {
        assertThat(reader.copyValue(i, value, 0)).isEqualTo(value.length);
        assertThat(value).isEqualTo(values.get((int) indices[i]));
      }
    }
  }

  /** A guess by the average count is thousands of blocks off. */
  @Test
  @Timeout(600)
  void aValueIsFoundAmongManyBlocksOfDifferentCounts() {
    FieldSpec field = text("lz4");
    RecordSchema schema = new RecordSchema(List.of(field));
    WriteOptions options =
        WriteOptions.defaults().withDurability(Durability.NONE).withBlockBytes(4096);
    byte[] value = new byte[400];
    int longValues = 100_000;
    int shortValues = 4_000_000;
    ShardSummary shard;
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), schema, options)) {
      for (int i = 0; i < longValues + shortValues; i++) {
        writer.put(0, value, 0, i < longValues ? value.length : i % 7);
        writer.endRecord();
      }
      shard = writer.finish().orElseThrow();
    }
    assertThat(onDisk(shard).runs(1)).hasSize(1);
    try (RecordDataset dataset = read(field, shard, Verification.FIRST)) {
      FieldReader reader = dataset.reader("x");
      for (int i = 0; i < 4000; i++) {
        int index = random.nextInt(longValues + shortValues);
        reader.select(new long[] {index}, 0, 1);
        assertThat(reader.totalLengthBytes())
            .as("record %s, seed %s", index, seed)
            .isEqualTo(index < longValues ? value.length : index % 7);
      }
    }
  }
}
