package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Prefetcher.Prefetch;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.UnmappedStorage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tables that are not as they were first written ask of a storage whose files are not mapped what
 * an untouched table asks: each layout of a field, with records updated and deleted, shards that
 * lack the field, and values of a promoted type, read in each way.
 */
final class RemotePatchesTest {
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);
  private static final int REGION_BYTES = 1 << 20;

  /** Records of a gather: few, so that the places of most of them are far from each other. */
  private static final int GATHERED = 16;

  private static final int SCANNED = 5000;
  private static final int CHANGED = 5;

  /** What a place that moves by some records, and the changed values, may add. */
  private static final long OTHER_PLACES_BYTES = 600 << 10;

  /** What one selection may hold besides its values, and the unit or the gap that came last. */
  private static final long MOST_BYTES_HELD = 34 << 20;

  /** Values differ from most others: to make each of them anew takes longer than the test. */
  private static final int DIFFERENT_VALUES = 4096;

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  private final Object[] values = new Object[DIFFERENT_VALUES];

  /** A layout of a field. */
  enum Layout {
    FIXED(ElementType.I32, Shape.scalar(), "raw", 300_000),
    VARIABLE(ElementType.BYTES, Shape.scalar(), "raw", 20_000),
    LISTS(ElementType.I32, Shape.of(-1), "raw", 20_000),
    NUMBERS_IN_BLOCKS(ElementType.I32, Shape.scalar(), "lz4", 300_000),
    TEXTS_IN_BLOCKS(ElementType.BYTES, Shape.scalar(), "zstd", 20_000),
    LONG_COMPRESSED(ElementType.BYTES, Shape.scalar(), "zstd", 150),
    NESTED(
        ElementType.nested(NestedType.listOf(NestedType.of(ElementType.BYTES))),
        Shape.scalar(),
        "raw",
        20_000);

    final FieldSpec field;
    final int records;

    Layout(ElementType type, Shape shape, String codec, int records) {
      this.field = new FieldSpec(1, "v", type, shape, Compression.parse(codec));
      this.records = records;
    }

    boolean isPromotable() {
      return field.type().equals(ElementType.I32);
    }

    Object value(Random random) {
      if (this == FIXED || this == NUMBERS_IN_BLOCKS) {
        return random.nextInt();
      }
      if (this == LISTS) {
        return random.ints(50 + random.nextInt(50)).toArray();
      }
      if (this == NESTED) {
        return List.of(bytes(random, 100), bytes(random, 100));
      }
      return this == LONG_COMPRESSED ? bytes(random, 40_000) : bytes(random, 200);
    }
  }

  /** Makes from {@code least} to twice as many bytes, or one length if they are many. */
  private static byte[] bytes(Random random, int least) {
    byte[] bytes = new byte[least < 1000 ? least + random.nextInt(least) : least];
    random.nextBytes(bytes);
    return bytes;
  }

  /** A way to read. */
  enum Way {
    GATHER {
      @Override
      List<byte[]> read(RecordDataset dataset, long[] indices) {
        FieldReader reader = dataset.reader("v");
        reader.select(indices, 0, indices.length);
        return selected(reader);
      }
    },
    BATCH {
      @Override
      List<byte[]> read(RecordDataset dataset, long[] indices) {
        List<byte[]> values = new ArrayList<>();
        try (Batch batch = dataset.gather(indices, "v")) {
          for (int i = 0; i < indices.length; i++) {
            values.add(batch.isAbsent("v", i) ? new byte[0] : batch.bytes("v", i));
          }
        }
        return values;
      }
    },
    PREFETCHED {
      @Override
      List<byte[]> read(RecordDataset dataset, long[] indices) {
        Prefetch asked = dataset.prefetcher(List.of("v")).ask(indices);
        try {
          return GATHER.read(dataset, indices);
        } finally {
          asked.close();
        }
      }
    },
    SCAN {
      @Override
      List<byte[]> read(RecordDataset dataset, long[] indices) {
        List<byte[]> values = new ArrayList<>();
        FieldReader reader = dataset.reader("v");
        long end = Math.min(dataset.length(), indices[0] + SCANNED);
        for (long next = indices[0]; next < end; next += reader.count()) {
          reader.selectRange(next, (int) Math.min(4096, end - next), 1 << 20);
          values.addAll(selected(reader));
        }
        return values;
      }
    };

    abstract List<byte[]> read(RecordDataset dataset, long[] indices);

    private static List<byte[]> selected(FieldReader reader) {
      return IntStream.range(0, reader.count()).mapToObj(reader::value).toList();
    }
  }

  /** What was asked for. */
  private record Asked(int requests, long bytes) {}

  @AfterEach
  void forgetShards() {
    OpenShards.shared().clear();
  }

  private RecordTable table() {
    return RecordTable.at(LocalStorage.at(directory));
  }

  /** Makes a value, or takes one that was made before. */
  private Object value(Layout layout, Random random) {
    int number = random.nextInt(DIFFERENT_VALUES);
    if (values[number] == null) {
      values[number] = layout.value(random);
    }
    return values[number];
  }

  private void append(RecordSchema schema, Layout layout, Random random) {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(directory.toString(), schema, OPTIONS)) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < layout.records; i++) {
        if (schema.fields().get(0).name().equals("v")) {
          records.set("v", value(layout, random));
        } else {
          records.set("n", i);
        }
        records.endRecord();
      }
      writer.commit();
    }
  }

  private void write(Layout layout, int shards, Random random) {
    RecordSchema schema = new RecordSchema(List.of(layout.field));
    for (int shard = 0; shard < shards; shard++) {
      append(schema, layout, random);
    }
  }

  private TableSnapshot updated(Layout layout, Random random) {
    TableSnapshot before = table().latest();
    RowChange change = RowChange.of(before);
    for (int shard = 0; shard < before.shards().size(); shard++) {
      for (int i = 0; i < CHANGED; i++) {
        long index = before.firstIndex(shard) + random.nextInt(layout.records - 2 * CHANGED);
        change.update(index, "v", i == 0 ? null : layout.value(random));
      }
    }
    return change.commit();
  }

  private TableSnapshot deleted(Layout layout, Random random) {
    TableSnapshot before = table().latest();
    RowChange change = RowChange.of(before);
    for (int shard = 0; shard < before.shards().size(); shard++) {
      for (int i = 0; i < CHANGED; i++) {
        change.delete(before.firstIndex(shard) + random.nextInt(layout.records - 2 * CHANGED));
      }
    }
    return change.commit();
  }

  static Stream<Arguments> layouts() {
    return Stream.of(Layout.values())
        .flatMap(layout -> IntStream.of(1, 3).mapToObj(count -> Arguments.of(layout, count)));
  }

  @ParameterizedTest
  @MethodSource("layouts")
  void aTableThatWasChangedAsksForWhatItAskedForBefore(Layout layout, int shards) {
    Random random = Budget.random();
    write(layout, shards, random);
    Map<String, TableSnapshot> states = new LinkedHashMap<>();
    TableSnapshot untouched = table().latest();
    states.put("updated", updated(layout, random));
    states.put("updated and deleted", deleted(layout, random));
    if (layout.isPromotable()) {
      states.put("updated, deleted and promoted", table().promoteField("v", ElementType.I64));
    }
    long length =
        states.values().stream().mapToLong(TableSnapshot::length).min().orElseThrow();
    long[] indices = indices(random, length, shards, layout);
    for (Way way : Way.values()) {
      Asked before = read(untouched, way, indices);
      states.forEach((state, version) -> requireAsks(state, way, version, indices, before, shards));
    }
  }

  @ParameterizedTest
  @EnumSource(Layout.class)
  void aShardThatLacksTheFieldCostsNothing(Layout layout) {
    Random random = Budget.random();
    FieldSpec other =
        RecordSchema.builder().field("n", ElementType.I32).build().fields().get(0);
    append(new RecordSchema(List.of(other)), layout, random);
    FieldSpec added = new FieldSpec(
        2, "v", layout.field.type(), layout.field.shape(), layout.field.compression());
    TableSnapshot lacking = table().addFields(List.of(added));
    for (int shard = 0; shard < 2; shard++) {
      try (RecordDatasetWriter writer =
          RecordDatasetWriter.append(directory.toString(), lacking.schema(), OPTIONS)) {
        RecordAppender records = writer.newAppender();
        for (int i = 0; i < layout.records; i++) {
          records.set("n", i).set("v", value(layout, random)).endRecord();
        }
        writer.commit();
      }
    }
    long[] with = LongStream.concat(
            LongStream.of(layout.records, 2L * layout.records),
            // One record is deleted later.
            random.longs(GATHERED, layout.records, 3L * layout.records - 1))
        .toArray();
    long[] mixed = LongStream.concat(LongStream.of(3, 5), LongStream.of(with)).toArray();
    TableSnapshot version = table().latest();
    for (Way way : List.of(Way.GATHER, Way.BATCH, Way.PREFETCHED)) {
      requireAsks("absent", way, version, mixed, read(version, way, with), 3);
    }
    RowChange change = RowChange.of(version);
    change.update(3, "v", layout.value(random));
    change.delete(4);
    TableSnapshot patched = change.commit();
    for (Way way : List.of(Way.GATHER, Way.BATCH, Way.PREFETCHED)) {
      requireAsks("absent and patched", way, patched, mixed, read(version, way, with), 3);
    }
  }

  private static long[] indices(Random random, long length, int shards, Layout layout) {
    // The first record of each shard, so that the tables of all are needed.
    LongStream first = LongStream.range(0, shards).map(shard -> shard * layout.records);
    return LongStream.concat(first, random.longs(GATHERED, 0, length)).toArray();
  }

  /** Reads a version twice, and says what the second time asked for. */
  private Asked read(TableSnapshot version, Way way, long[] indices) {
    OpenShards.shared().clear();
    UnmappedStorage storage = new UnmappedStorage(LocalStorage.at(directory), REGION_BYTES);
    TableSnapshot far = RecordTable.at(storage).version(version.version());
    long[] firstOfEach =
        IntStream.range(0, far.shards().size()).mapToLong(far::firstIndex).toArray();
    try (RecordDataset near = RecordDataset.open(version, ReadOptions.defaults());
        RecordDataset dataset = RecordDataset.open(far, ReadOptions.defaults())) {
      // Opens the shards and reads their tables.
      dataset.gather(firstOfEach, "v").close();
      storage.begin(0);
      List<byte[]> found = way.read(dataset, indices);
      Asked asked = new Asked(storage.requests(), storage.requestedBytes());
      List<byte[]> expected = way.read(near, indices);
      assertThat(found).as("%s of %s", way, version).hasSameSizeAs(expected);
      for (int i = 0; i < found.size(); i++) {
        assertThat(found.get(i)).as("%s of %s, %s", way, version, i).isEqualTo(expected.get(i));
      }
      return asked;
    }
  }

  private void requireAsks(
      String state, Way way, TableSnapshot version, long[] indices, Asked before, int shards) {
    Asked asked = read(version, way, indices);
    String what = state + ", " + way + ": " + asked + ", and " + before + " before";
    long most = before.bytes + before.bytes / 5;
    // A scan reads up to 16 regions ahead, more after it had to wait: at most to the end of the
    // shard, none of which has more. No region is asked for twice.
    long whole =
        scannedShards(version, indices[0]).mapToLong(ShardSummary::chunkBytes).sum();
    assertThat(asked.bytes)
        .as(what)
        .isLessThanOrEqualTo((way == Way.SCAN ? Math.max(most, whole) : most) + OTHER_PLACES_BYTES);
    // A scan asks for regions, and for a range a batch where values have to be converted.
    int others = way == Way.SCAN ? before.requests + (int) (whole / REGION_BYTES) : 0;
    assertThat(asked.requests)
        .as(what)
        .isLessThanOrEqualTo(before.requests + before.requests / 5 + 2 * shards + 2 + others);
  }

  /** Returns the shards with the records of a scan. */
  private static Stream<ShardSummary> scannedShards(TableSnapshot version, long first) {
    long last = Math.min(version.length(), first + SCANNED) - 1;
    return IntStream.rangeClosed(version.shardOf(first), version.shardOf(last))
        .mapToObj(version.shards()::get);
  }

  /** More records than a selection may hold at once, from all over the table. */
  @ParameterizedTest
  @EnumSource(
      value = Layout.class,
      names = {"VARIABLE", "TEXTS_IN_BLOCKS", "NESTED", "LISTS"})
  void aSelectionHoldsItsValuesAndABoundBesides(Layout layout) {
    Random random = Budget.random();
    int shards = 7;
    write(layout, shards, random);
    deleted(layout, random);
    TableSnapshot version = updated(layout, random);
    if (layout.isPromotable()) {
      version = table().promoteField("v", ElementType.I64);
    }
    long[] indices = random.longs(12_000, 0, version.length()).toArray();
    OpenShards.shared().clear();
    UnmappedStorage storage = new UnmappedStorage(LocalStorage.at(directory), REGION_BYTES);
    TableSnapshot far = RecordTable.at(storage).version(version.version());
    byte[][] expected;
    try (RecordDataset near = RecordDataset.open(version, ReadOptions.defaults())) {
      expected = Way.GATHER.read(near, indices).toArray(new byte[0][]);
    }
    for (Verification verification : Verification.values()) {
      ReadMetrics metrics = new ReadMetrics();
      try (RecordDataset dataset =
          RecordDataset.open(far, new ReadOptions(verification, metrics))) {
        assertThat(Way.GATHER.read(dataset, indices).toArray(new byte[0][]))
            .isDeepEqualTo(expected);
        assertThat(metrics.bytesRequested.sum()).isGreaterThan(MOST_BYTES_HELD);
        assertThat(metrics.mostBytesHeld.get()).isBetween(1L, MOST_BYTES_HELD);
      }
    }
  }
}
