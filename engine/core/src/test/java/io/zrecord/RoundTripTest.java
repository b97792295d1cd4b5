package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.NotADatasetException;
import io.zrecord.internal.shard.OpenShards;
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
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What was written is what is read, whichever way it is read. */
final class RoundTripTest {
  private static final WriteOptions SMALL = WriteOptions.defaults()
      .withDurability(Durability.NONE)
      .withStripeBytes(64 << 10)
      .withChunkBytes(200 << 10);

  private final long seed = Budget.seed();

  @TempDir
  Path directory;

  private Storage storage;

  @BeforeEach
  void open() {
    storage = LocalStorage.at(directory);
  }

  @ParameterizedTest
  @EnumSource(Verification.class)
  void aTableOfSeveralShardsReadsBack(Verification verification) {
    SampleData data = SampleData.random(SampleData.everything(), 300, seed);
    TableSnapshot snapshot = commit(data, SMALL, 0, 120, 121, 300);
    try (RecordDataset dataset = open(snapshot, verification)) {
      requireEqual(dataset, data);
    }
  }

  @Test
  void valuesThatCrossWindowsReadBack() {
    storage = new SmallWindowStorage(storage);
    SampleData data = SampleData.random(SampleData.everything(), 200, seed);
    TableSnapshot snapshot = commit(data, SMALL, 0, 200);
    for (Verification verification : Verification.values()) {
      OpenShards.shared().clear();
      requireEqual(open(snapshot, verification), data);
    }
  }

  @Test
  void shardsWithoutChecksumsReadBack() {
    SampleData data = SampleData.random(SampleData.everything(), 300, seed);
    TableSnapshot snapshot = commit(data, SMALL.withChecksum(Checksum.NONE), 0, 200, 300);
    requireEqual(open(snapshot, Verification.ALWAYS), data);
  }

  @ParameterizedTest
  @ValueSource(longs = {64, 512, 4096, 1 << 20})
  void alignedValuesReadBack(long alignBytes) {
    SampleData data = SampleData.random(SampleData.everything(), 300, seed);
    requireEqual(
        open(commit(data, SMALL.withAlignBytes(alignBytes), 0, 200, 300), Verification.FIRST),
        data);
  }

  @Test
  void manyChunksReadBack() {
    SampleData data = SampleData.random(SampleData.everything(), 300, seed);
    RecordDataset dataset =
        open(commit(data, SMALL.withChunkBytes(4096), 0, 300), Verification.FIRST);
    requireEqual(dataset, data);
  }

  /** A shard without absent values has no bits of presence. */
  @Test
  void aRangeOfValuesWithoutBytesCrossesShards() {
    RecordSchema schema = RecordSchema.builder()
        .field("nothing", ElementType.U8, Shape.of(0), Compression.RAW)
        .build();
    List<byte[][]> records = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      records.add(new byte[][] {i == 1 || i == 7 ? null : new byte[0]});
    }
    SampleData data = SampleData.of(schema, records);
    RecordDataset dataset = open(commit(data, SMALL, 0, 3, 6, 9), Verification.FIRST);
    for (int first = 0; first < 9; first++) {
      assertThat(dataset.reader("nothing").selectRange(first, 9 - first, 1)).isEqualTo(9 - first);
    }
    requireEqual(dataset, data);
  }

  @Test
  void aShardIsReadByItself() {
    SampleData data = SampleData.random(SampleData.everything(), 300, seed);
    ShardSummary shard = data.write(storage, SMALL, 0, 300);
    try (RecordDataset dataset = RecordDataset.openShard(
        storage, data.schema(), shard, RecordDataset.ReadOptions.defaults())) {
      requireEqual(dataset, data);
    }
    assertThatThrownBy(
            () -> RecordDataset.open(directory.resolve(shard.directory()).toString()))
        .isInstanceOf(NotADatasetException.class)
        .hasMessageContaining("it is a shard of a table. Open the table");
  }

  @Test
  void aFieldThatAShardDoesNotHaveIsAbsent() {
    SampleData data = SampleData.random(SampleData.everything(), 50, seed);
    ShardSummary shard = data.write(storage, SMALL, 0, 50);
    List<FieldSpec> fields = new ArrayList<>(data.schema().fields());
    fields.add(new FieldSpec(1000, "new i16", ElementType.I16, Shape.scalar(), Compression.RAW));
    fields.add(new FieldSpec(1001, "new text", ElementType.UTF8, Shape.scalar(), Compression.RAW));
    RecordDataset dataset = RecordDataset.openShard(
        storage, new RecordSchema(fields), shard, RecordDataset.ReadOptions.defaults());
    for (String name : new String[] {"new i16", "new text"}) {
      FieldReader reader = dataset.reader(name);
      assertThat(reader.selectRange(10, 20, 1 << 20)).isEqualTo(20);
      int width = name.equals("new i16") ? 2 : 0;
      for (boolean range : new boolean[] {true, false}) {
        if (!range) {
          reader.select(new long[] {3, 3, 49}, 0, 3);
        }
        assertThat(reader.hasAbsent()).isTrue();
        assertThat(reader.isAbsent(2)).isTrue();
        assertThat(reader.lengthBytes(0)).isZero();
        assertThat(reader.value(1)).isEmpty();
        assertThat(reader.view(1).remaining()).isZero();
        assertThat(reader.totalLengthBytes()).isEqualTo((long) reader.count() * width);
        byte[] all = new byte[reader.count() * width];
        java.util.Arrays.fill(all, (byte) 1);
        reader.copyAll(all, 0);
        assertThat(all).isEqualTo(new byte[all.length]);
      }
    }
  }

  @Test
  void readsAreCounted() {
    SampleData data = SampleData.random(SampleData.everything(), 300, seed);
    TableSnapshot snapshot = commit(data, SMALL, 0, 300);
    RecordDataset dataset = open(snapshot, Verification.FIRST);
    FieldReader reader = dataset.reader("never absent");
    reader.selectRange(0, 300, 1 << 20);
    reader.copyAll(new byte[2400], 0);
    ReadMetrics metrics = dataset.metrics();
    assertThat(metrics.values.sum()).isEqualTo(300);
    assertThat(metrics.bytesRead.sum()).isEqualTo(2400);
    assertThat(metrics.bytesDelivered.sum()).isEqualTo(2400);
    assertThat(metrics.chunksOpened.sum()).isPositive();
    assertThat(metrics.decodeNanos.sum()).isZero();
    FieldReader zstd = dataset.reader("zstd 字节");
    zstd.selectRange(0, 300, 1 << 30);
    zstd.copyAll(ByteBuffer.allocateDirect((int) zstd.totalLengthBytes()));
    assertThat(metrics.values.sum()).isEqualTo(600);
    assertThat(metrics.decodeNanos.sum()).isPositive();
    assertThat(metrics.checksumFailures.sum()).isZero();
  }

  private TableSnapshot commit(SampleData data, WriteOptions options, int... cuts) {
    List<ShardSummary> shards = new ArrayList<>();
    for (int i = 1; i < cuts.length; i++) {
      shards.add(data.write(storage, options, cuts[i - 1], cuts[i]));
    }
    return RecordTable.at(storage)
        .commit(TableChange.of(TableChange.Kind.CREATE, data.schema())
            .shards(shards)
            .build());
  }

  private static RecordDataset open(TableSnapshot snapshot, Verification verification) {
    return RecordDataset.open(
        snapshot, new RecordDataset.ReadOptions(verification, new ReadMetrics()));
  }

  private void requireEqual(RecordDataset dataset, SampleData data) {
    requireEqual(dataset, data, true, seed);
  }

  /**
   * Requires that a dataset has these values, whichever way it is read.
   *
   * @param isOneKind whether ranges of all shards are read in the same way, and so at once
   */
  static void requireEqual(RecordDataset dataset, SampleData data, boolean isOneKind, long seed) {
    assertThat(dataset.length()).isEqualTo(data.count());
    Random random = new Random(seed);
    for (FieldSpec field : dataset.schema().fields()) {
      FieldReader reader = dataset.reader(field.name());
      String what = "field " + field.name() + ", seed " + seed;
      for (int round = 0; round < 6; round++) {
        int first = random.nextInt(data.count());
        int most = 1 + random.nextInt(data.count() - first);
        long maxBytes =
            round % 3 == 0 ? 1 : round % 3 == 1 ? random.nextInt(100_000) : Long.MAX_VALUE;
        int taken = reader.selectRange(first, most, maxBytes);
        assertThat(taken).as(what).isBetween(1, most);
        if (round % 3 == 2 && isOneKind) {
          assertThat(taken).as(what).isEqualTo(most);
        }
        int[] records = java.util.stream.IntStream.range(first, first + taken).toArray();
        requireEqual(reader, field, data, records, what, random);
        int[] any = random.ints(random.nextInt(200), 0, data.count()).toArray();
        long[] indices = new long[any.length + 3];
        for (int i = 0; i < any.length; i++) {
          indices[i + 2] = any[i];
        }
        reader.select(indices, 2, any.length);
        requireEqual(reader, field, data, any, what, random);
      }
    }
    long[] indices = random.longs(20, 0, data.count()).toArray();
    try (Batch batch = dataset.gather(indices)) {
      for (FieldSpec field : dataset.schema().fields()) {
        for (int i = 0; i < indices.length; i++) {
          byte[] value = data.value(field.name(), (int) indices[i]);
          assertThat(batch.isAbsent(field.name(), i)).isEqualTo(value == null);
          if (value != null) {
            assertThat(batch.bytes(field.name(), i)).isEqualTo(value);
          }
        }
      }
    }
  }

  private static void requireEqual(
      FieldReader reader,
      FieldSpec field,
      SampleData data,
      int[] records,
      String what,
      Random random) {
    int width = field.valueWidthBytes().orElse(0);
    ByteArrayOutputStream expected = new ByteArrayOutputStream();
    boolean absent = false;
    assertThat(reader.count()).as(what).isEqualTo(records.length);
    int order = random.nextInt(4);
    for (int i = 0; i < records.length; i++) {
      byte[] value = data.value(field.name(), records[i]);
      absent |= value == null;
      byte[] written = value == null ? new byte[width] : value;
      expected.write(written, 0, written.length);
    }
    assertThat(reader.hasAbsent()).as(what).isEqualTo(absent);
    assertThat(reader.totalLengthBytes()).as(what).isEqualTo(expected.size());
    if (order == 0) {
      requireEachEqual(reader, field, data, records, what);
    }
    byte[] heap = new byte[expected.size() + 5];
    reader.copyAll(heap, 3);
    assertThat(java.util.Arrays.copyOfRange(heap, 3, heap.length - 2))
        .as(what)
        .isEqualTo(expected.toByteArray());
    ByteBuffer direct = ByteBuffer.allocateDirect(expected.size() + 4)
        .order(ByteOrder.BIG_ENDIAN)
        .position(2);
    reader.copyAll(direct);
    assertThat(direct.position()).isEqualTo(expected.size() + 2);
    byte[] copied = new byte[expected.size()];
    direct.get(2, copied);
    assertThat(copied).as(what).isEqualTo(expected.toByteArray());
    if (order == 1) {
      requireEachEqual(reader, field, data, records, what);
    }
  }

  private static void requireEachEqual(
      FieldReader reader, FieldSpec field, SampleData data, int[] records, String what) {
    for (int i = 0; i < records.length; i++) {
      byte[] value = data.value(field.name(), records[i]);
      assertThat(reader.isAbsent(i)).as(what).isEqualTo(value == null);
      byte[] expected = value == null ? new byte[0] : value;
      assertThat(reader.lengthBytes(i)).as(what).isEqualTo(expected.length);
      ByteBuffer view = reader.view(i);
      assertThat(view.isReadOnly()).isTrue();
      assertThat(view.order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
      byte[] viewed = new byte[view.remaining()];
      view.get(viewed);
      assertThat(viewed).as(what).isEqualTo(expected);
      assertThat(reader.value(i)).as(what).isEqualTo(expected);
      byte[] copy = new byte[expected.length + 2];
      assertThat(reader.copyValue(i, copy, 1)).isEqualTo(expected.length);
      assertThat(java.util.Arrays.copyOfRange(copy, 1, copy.length - 1))
          .as(what)
          .isEqualTo(expected);
    }
  }
}
