package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
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
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.Budget;
import io.zrecord.testing.Cases;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.ShardOnDisk;
import io.zrecord.testing.ShardProbe;
import io.zrecord.testing.UnmappedStorage;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Values of any length, in blocks of 1,024. */
final class VariableRunTest {
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withBlockBytes(0).withDurability(Durability.NONE);
  private static final UUID ID = UUID.fromString("9f0c2b9e-6a50-4d0c-a8b1-6c8f7f0e2c11");
  private static final int FIELD = 1;

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  private final Random random = Budget.random();

  @AfterEach
  void forgetShards() {
    OpenShards.shared().clear();
  }

  private static RecordSchema schema(ElementType type, Shape shape, Codec codec) {
    return RecordSchema.builder().field("v", type, shape, Compression.of(codec)).build();
  }

  private static RecordSchema bytes(Codec codec) {
    return schema(ElementType.BYTES, Shape.scalar(), codec);
  }

  /** Returns values of these lengths; -1 is an absent value. */
  private List<byte @Nullable []> values(int... lengths) {
    List<byte @Nullable []> values = new ArrayList<>();
    for (int length : lengths) {
      byte[] value = length < 0 ? null : new byte[length];
      if (value != null) {
        random.nextBytes(value);
      }
      values.add(value);
    }
    return values;
  }

  private ShardSummary write(
      Path path, RecordSchema schema, WriteOptions options, List<byte @Nullable []> values) {
    try (ShardWriter writer = ShardWriter.create(LocalStorage.at(path), ID, schema, options)) {
      for (byte[] value : values) {
        if (value != null) {
          writer.put(0, value, 0, value.length);
        }
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private static FieldReader reader(
      Storage storage, RecordSchema schema, ShardSummary shard, Verification verification) {
    OpenShards.shared().clear();
    return RecordDataset.openShard(
            storage, schema, shard, new RecordDataset.ReadOptions(verification, new ReadMetrics()))
        .reader("v");
  }

  /** Requires that values come back by ranges, by lists and one by one, with any verification. */
  private void requireReadable(
      Path path, RecordSchema schema, ShardSummary shard, List<byte @Nullable []> values) {
    for (Storage storage : List.of(
        LocalStorage.at(path),
        new SmallWindowStorage(LocalStorage.at(path)),
        new UnmappedStorage(LocalStorage.at(path), 1 << 14))) {
      for (Verification verification : Verification.values()) {
        requireRanges(reader(storage, schema, shard, verification), values);
        FieldReader reader = reader(storage, schema, shard, verification);
        List<Long> order = new ArrayList<>();
        for (long i = 0; i < values.size(); i++) {
          order.add(i);
        }
        Collections.shuffle(order, random);
        long[] indices = order.stream().mapToLong(Long::longValue).toArray();
        for (int round = 0; round < 2; round++) {
          reader.select(indices, 0, indices.length);
          requireSelected(reader, indices, values);
        }
        requireRanges(reader, values);
      }
    }
  }

  private void requireRanges(FieldReader reader, List<byte @Nullable []> values) {
    for (long first = 0; first < values.size(); ) {
      int most = 1 + random.nextInt(values.size() - (int) first);
      int taken = reader.selectRange(first, most, 1 + random.nextInt(1 << 20));
      assertThat(taken).isBetween(1, most);
      long[] indices = new long[taken];
      for (int i = 0; i < taken; i++) {
        indices[i] = first + i;
      }
      requireSelected(reader, indices, values);
      first += taken;
    }
  }

  private static void requireSelected(
      FieldReader reader, long[] indices, List<byte @Nullable []> values) {
    assertThat(reader.count()).isEqualTo(indices.length);
    byte[] all = new byte[(int) reader.totalLengthBytes()];
    ByteBuffer direct = ByteBuffer.allocateDirect(all.length + 3);
    reader.copyAll(direct.position(3));
    reader.copyAll(all, 0);
    assertThat(direct.rewind().slice(3, all.length)).isEqualTo(ByteBuffer.wrap(all));
    int at = 0;
    boolean hasAbsent = false;
    for (int i = 0; i < indices.length; i++) {
      byte[] expected = values.get((int) indices[i]);
      hasAbsent |= expected == null;
      assertThat(reader.isAbsent(i)).as("absence of %s", indices[i]).isEqualTo(expected == null);
      byte[] present = expected == null ? new byte[0] : expected;
      assertThat(reader.lengthBytes(i)).isEqualTo(present.length);
      byte[] copied = java.util.Arrays.copyOfRange(all, at, at + present.length);
      assertThat(copied).as("value %s", indices[i]).isEqualTo(present);
      at += present.length;
      if (i % 37 == 0) {
        assertThat(reader.value(i)).isEqualTo(present);
        assertThat(reader.view(i)).isEqualTo(ByteBuffer.wrap(present));
      }
    }
    assertThat(at).isEqualTo(all.length);
    assertThat(reader.hasAbsent()).isEqualTo(hasAbsent);
  }

  private ShardProbe probe(long alignBytes) {
    return ShardProbe.read(LocalStorage.at(directory), ID, alignBytes);
  }

  private void requireWritten(ShardProbe probe, List<byte @Nullable []> values) {
    assertThat(probe.runKind(0)).isEqualTo(2);
    for (int i = 0; i < values.size(); i++) {
      assertThat(probe.value(0, i)).as("value %s", i).isEqualTo(values.get(i));
    }
  }

  @ParameterizedTest
  @EnumSource(Codec.class)
  void lengthsAndAbsentValues(Codec codec) {
    RecordSchema schema = bytes(codec);
    List<byte @Nullable []> values =
        values(0, 1, -1, 4095, 4096, 0, -1, -1, 7, 65_536, 0, 3, 300_000, 1, -1, 0);
    for (WriteOptions options :
        List.of(OPTIONS, OPTIONS.withChecksum(Checksum.NONE), OPTIONS.withStripeBytes(1 << 16))) {
      Path path = directory.resolve("d" + options.hashCode());
      ShardSummary shard = write(path, schema, options, values);
      requireWritten(ShardProbe.read(LocalStorage.at(path), ID), values);
      requireReadable(path, schema, shard, values);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 1023, 1024, 1025, 2047, 2048, 2049})
  void edgesOfBlocks(int count) {
    int[] lengths = random.ints(count, -1, 20).toArray();
    List<byte @Nullable []> values = values(lengths);
    ShardSummary shard = write(directory, bytes(Codec.RAW), OPTIONS, values);
    requireWritten(probe(8), values);
    requireReadable(directory, bytes(Codec.RAW), shard, values);
    assertThat(ShardOnDisk.of(directory.resolve(shard.directory())).runs(FIELD)).hasSize(1);
  }

  @Test
  void onlyAbsentOrEmptyValues() {
    for (int length : new int[] {-1, 0}) {
      int[] lengths = new int[1500];
      Arrays.fill(lengths, length);
      Path path = directory.resolve("of" + length);
      List<byte @Nullable []> values = values(lengths);
      ShardSummary shard = write(path, bytes(Codec.RAW), OPTIONS, values);
      requireWritten(ShardProbe.read(LocalStorage.at(path), ID), values);
      requireReadable(path, bytes(Codec.RAW), shard, values);
    }
  }

  @Test
  void aRunEndsWithItsChunk() {
    int[] lengths = random.ints(3_000, 0, 60).toArray();
    List<byte @Nullable []> values = values(lengths);
    WriteOptions options = OPTIONS.withChunkBytes(8 << 10);
    ShardSummary shard = write(directory, bytes(Codec.RAW), options, values);
    assertThat(shard.chunks()).hasSizeGreaterThan(5);
    ShardProbe probe = probe(8);
    requireWritten(probe, values);
    assertThat(probe.runCount(0)).isEqualTo(shard.chunks().size());
    requireReadable(directory, bytes(Codec.RAW), shard, values);
  }

  /** The fields' stripes are written in turn, so each has many runs in the chunk. */
  @Test
  void runsOfSeveralFields() {
    RecordSchema schema = RecordSchema.builder()
        .field("v", ElementType.BYTES)
        .field("w", ElementType.UTF8)
        .build();
    int[] lengths = random.ints(3_000, -1, 900).toArray();
    List<byte @Nullable []> values = values(lengths);
    ShardSummary shard;
    WriteOptions options = OPTIONS.withStripeBytes(1 << 16);
    try (ShardWriter writer = ShardWriter.create(LocalStorage.at(directory), ID, schema, options)) {
      for (byte[] value : values) {
        if (value != null) {
          writer.put(0, value, 0, value.length);
          writer.put(1, value, 0, value.length / 2);
        }
        writer.endRecord();
      }
      shard = writer.finish().orElseThrow();
    }
    ShardProbe probe = probe(8);
    requireWritten(probe, values);
    assertThat(probe.runCount(0)).isGreaterThan(10);
    requireReadable(directory, schema, shard, values);
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 16, 64, 4096})
  void valuesOfWiderElementsAndLongOnesAreAligned(int alignBytes) {
    WriteOptions options = OPTIONS.withAlignBytes(alignBytes).withStripeBytes(1 << 17);
    RecordSchema doubles = schema(ElementType.F64, Shape.of(-1), Codec.RAW);
    RecordSchema packed = bytes(Codec.RAW);
    int[] lengths = random
        .ints(1_200, 0, 4)
        .map(kind -> switch (kind) {
          case 0 -> random.nextInt(20);
          // About as long as the alignment, where a byte decides.
          case 1 -> alignBytes - 8 + random.nextInt(16);
          case 2 -> alignBytes;
          default -> random.nextInt(3 * alignBytes);
        })
        .toArray();
    for (boolean isPacked : new boolean[] {false, true}) {
      RecordSchema schema = isPacked ? packed : doubles;
      Path path = directory.resolve("of" + isPacked);
      List<byte @Nullable []> values = values(
          isPacked
              ? lengths
              : java.util.Arrays.stream(lengths).map(length -> length & -8).toArray());
      ShardSummary shard = write(path, schema, options, values);
      ShardProbe probe = ShardProbe.read(LocalStorage.at(path), ID, alignBytes);
      requireWritten(probe, values);
      for (int i = 0; !isPacked && i < values.size(); i++) {
        assertThat(probe.offset(0, i) % 8).as("place of %s", i).isZero();
      }
      requireReadable(path, schema, shard, values);
    }
  }

  /** A unit has 4 KiB on average at most, so that verifying one value reads little more. */
  @Test
  void unitsFollowTheLengths() {
    int[][] cases = {{1, 1024}, {10, 256}, {784, 4}, {1024, 4}, {1025, 2}, {4096, 1}, {50_000, 1}};
    for (int[] one : cases) {
      Path path = directory.resolve("of" + one[0]);
      int[] lengths = new int[1100];
      Arrays.fill(lengths, one[0]);
      ShardSummary shard = write(path, bytes(Codec.RAW), OPTIONS, values(lengths));
      assertThat(ShardOnDisk.of(path.resolve(shard.directory())).unitValues(FIELD, 0))
          .as("values of %s bytes", one[0])
          .isEqualTo(one[1]);
    }
  }

  /** Long values after short ones are not in units of hundreds. */
  @Test
  void aRunEndsWhereLengthsChange() {
    int[] lengths = new int[30_000];
    for (int i = 0; i < lengths.length; i++) {
      lengths[i] = i < 29_500 ? 100 : 10_000;
    }
    List<byte @Nullable []> values = values(lengths);
    ShardSummary shard =
        write(directory, bytes(Codec.RAW), OPTIONS.withStripeBytes(1 << 18), values);
    ShardOnDisk files = ShardOnDisk.of(directory.resolve(shard.directory()));
    assertThat(files.unitValues(FIELD, 0)).isEqualTo(32);
    assertThat(files.unitValues(FIELD, 29_999)).isOne();
    requireWritten(probe(8), values);
  }

  private long sizeOf(Path path) throws IOException {
    try (var files = Files.walk(path)) {
      return files
          .filter(Files::isRegularFile)
          .mapToLong(file -> file.toFile().length())
          .sum();
    }
  }

  @Test
  void placesAndChecksumsOfShortValuesAreSmall() throws IOException {
    int[] strings = random.ints(50_000, 10, 101).toArray();
    long raw = java.util.Arrays.stream(strings).asLongStream().sum();
    write(directory.resolve("strings"), bytes(Codec.RAW), OPTIONS, values(strings));
    assertThat((double) sizeOf(directory.resolve("strings")) / raw).isLessThan(1.08);
    int[] digits = new int[20_000];
    Arrays.fill(digits, 784);
    write(directory.resolve("digits"), bytes(Codec.RAW), OPTIONS, values(digits));
    assertThat((double) sizeOf(directory.resolve("digits")) / (784 * 20_000)).isLessThan(1.007);
  }

  /** Any bit of values and tables, but for those that no reader looks at. */
  @ParameterizedTest
  @EnumSource(
      value = Codec.class,
      names = {"RAW", "ZSTD"})
  void anyFlippedBitIsFoundOrTheValueIsRight(Codec codec) throws IOException {
    RecordSchema schema = bytes(codec);
    List<byte @Nullable []> values = values(5, -1, 0, 40, 3, 11, 0, 9);
    ShardSummary shard = write(directory, schema, OPTIONS, values);
    FileMapStorage storage = FileMapStorage.of(directory);
    int tried = 0;
    int found = 0;
    for (var file : storage.files().entrySet()) {
      byte[] content = file.getValue();
      for (long bit : Cases.before(content.length * 8L)) {
        int at = (int) (bit / 8);
        content[at] ^= (byte) (1 << bit % 8);
        tried++;
        FieldReader reader;
        try {
          reader = reader(storage, schema, shard, Verification.FIRST);
          for (int i = 0; i < values.size(); i++) {
            reader.select(new long[] {i}, 0, 1);
            assertThat(reader.isAbsent(0) ? null : reader.value(0))
                .as("bit %s of %s", bit, file.getKey())
                .isEqualTo(values.get(i));
          }
        } catch (io.zrecord.errors.ZRecordException e) {
          found++;
        }
        content[at] ^= (byte) (1 << bit % 8);
      }
    }
    // Of all bits, 0.8 matter: of 600, less than a third with a probability below 1e-100.
    assertThat(found).isGreaterThan(tried / 3);
  }

  /**
   * Within a unit an end may move without any change of the bytes. The block's checksum finds that;
   * in the control, which has a checksum that holds, a part of a value is read as another.
   */
  @Test
  void aFlippedEndThatLeadsIntoTheNextValueIsFound() throws IOException {
    List<byte @Nullable []> values = values(8, 8, 8, 8);
    ShardSummary shard = write(directory, bytes(Codec.RAW), OPTIONS, values);
    ShardOnDisk files = ShardOnDisk.of(directory.resolve(shard.directory()));
    byte[] tables = Files.readAllBytes(files.tables());
    tables[(int) files.placeAt(FIELD, 1)] ^= 1;
    Files.write(files.tables(), tables);
    Storage storage = LocalStorage.at(directory);
    for (Verification verification : List.of(Verification.FIRST, Verification.ALWAYS)) {
      FieldReader reader = reader(storage, bytes(Codec.RAW), shard, verification);
      assertThatThrownBy(() -> reader.select(new long[] {2}, 0, 1))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("the table at byte");
      assertThatThrownBy(() -> reader.selectRange(0, 4, Long.MAX_VALUE))
          .isInstanceOf(CorruptDataException.class);
    }
    files.sealPlace(FIELD, 1);
    FieldReader control = reader(storage, bytes(Codec.RAW), shard, Verification.ALWAYS);
    control.select(new long[] {1, 2}, 0, 2);
    assertThat(control.value(0)).as("control").hasSize(9);
    assertThat(control.value(1)).as("control").hasSize(7);
  }

  /** Without checksums nothing is verified, but no end may lead out of the run. */
  @Test
  void anEndThatLeadsOutOfTheRunIsDamageEvenUnchecked() throws IOException {
    List<byte @Nullable []> values = values(8, 8, 8, 8);
    WriteOptions unchecked = OPTIONS.withChecksum(Checksum.NONE);
    ShardSummary shard = write(directory, bytes(Codec.RAW), unchecked, values);
    ShardOnDisk files = ShardOnDisk.of(directory.resolve(shard.directory()));
    byte[] sound = Files.readAllBytes(files.tables());
    int at = (int) files.placeAt(FIELD, 1);
    for (int end : new int[] {0, 7, 33, 1 << 30, -1, Integer.MIN_VALUE}) {
      byte[] tables = sound.clone();
      ByteBuffer.wrap(tables).order(ByteOrder.LITTLE_ENDIAN).putInt(at, end);
      Files.write(files.tables(), tables);
      files.sealPlace(FIELD, 1);
      for (Verification verification : Verification.values()) {
        FieldReader reader =
            reader(LocalStorage.at(directory), bytes(Codec.RAW), shard, verification);
        assertThatThrownBy(() -> reader.select(new long[] {3}, 0, 1))
            .as("%s", end)
            .isInstanceOf(CorruptDataException.class)
            .hasMessageContaining("not within their run");
      }
    }
  }

  /** Values of one width that do not fit a stripe, and some that are absent. */
  @Test
  void wideTensorsAreVariableRuns() {
    RecordSchema schema = schema(ElementType.F32, Shape.of(5_000), Codec.RAW);
    int[] lengths = new int[40];
    for (int i = 0; i < lengths.length; i++) {
      lengths[i] = 20_000;
    }
    WriteOptions options = OPTIONS.withStripeBytes(1 << 16);
    List<byte @Nullable []> values = values(lengths);
    ShardSummary shard = write(directory.resolve("all"), schema, options, values);
    requireWritten(ShardProbe.read(LocalStorage.at(directory.resolve("all")), ID), values);
    requireReadable(directory.resolve("all"), schema, shard, values);
    values.set(7, null);
    Path some = directory.resolve("some");
    ShardSummary absent = write(some, schema, options, values);
    FieldReader reader = reader(LocalStorage.at(some), schema, absent, Verification.FIRST);
    reader.selectRange(6, 3, Long.MAX_VALUE);
    byte[] all = new byte[60_000];
    reader.copyAll(all, 0);
    assertThat(java.util.Arrays.copyOfRange(all, 20_000, 40_000)).containsOnly(0);
    assertThat(java.util.Arrays.copyOfRange(all, 40_000, 60_000)).isEqualTo(values.get(8));
  }

  /**
   * With {@code ALWAYS} a unit is checked at each selection, but not again for each value of it.
   */
  @Test
  void aUnitIsCheckedOncePerSelection() throws IOException {
    int count = 3000;
    int length = 100;
    int[] lengths = new int[count];
    Arrays.fill(lengths, length);
    List<byte @Nullable []> values = values(lengths);
    ShardSummary shard = write(directory, bytes(Codec.RAW), OPTIONS, values);
    ReadMetrics metrics = new ReadMetrics();
    FieldReader reader = RecordDataset.openShard(
            LocalStorage.at(directory),
            bytes(Codec.RAW),
            shard,
            new RecordDataset.ReadOptions(Verification.ALWAYS, metrics))
        .reader("v");
    long bytes = (long) count * length;
    for (int selection = 1; selection <= 2; selection++) {
      reader.selectRange(0, count, Long.MAX_VALUE);
      for (int i = 0; i < count; i++) {
        assertThat(reader.value(i)).isEqualTo(values.get(i));
      }
      assertThat(metrics.bytesRead.sum())
          .as("selected and checked, and the ends of values")
          .isEqualTo(selection * (2 * bytes + (long) count * Integer.BYTES));
    }
    Path chunk =
        directory.resolve(shard.directory()).resolve(shard.chunks().get(0).fileName());
    try (var file = new RandomAccessFile(chunk.toFile(), "rw")) {
      file.seek(file.length() / 2);
      int old = file.read();
      file.seek(file.length() / 2);
      file.write(old ^ 1);
    }
    reader.selectRange(0, count, Long.MAX_VALUE);
    int failed = 0;
    for (int i = 0; i < count; i++) {
      try {
        assertThat(reader.value(i)).isEqualTo(values.get(i));
      } catch (CorruptDataException e) {
        failed++;
      }
    }
    assertThat(failed).as("values of the damaged unit").isBetween(2, 1024);
  }
}
