package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.FieldReader;
import io.zrecord.read.IndexSet;
import io.zrecord.read.ValueRange;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.ElementType.Kind;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.ShardOnDisk;
import io.zrecord.verify.Damage;
import io.zrecord.verify.DatasetCheck;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A search for a range by statistics passes over no record that has a value within the range,
 * whatever became of the table, and passes over blocks that have none.
 */
final class ValueRangeTest {
  private static final int BLOCK = StatisticsRecord.SLOTS;
  private static final int RECORDS = 2 * BLOCK + 1000;
  private static final int ABSENT_EACH = 7;

  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("row", ElementType.I64)
      .field("part", ElementType.I32, Shape.scalar(), Compression.parse("zstd"))
      .field("tiny", ElementType.I8)
      .field("short", ElementType.I16)
      .field("count", ElementType.U32)
      .field("wide", ElementType.U64)
      .field("score", ElementType.F64)
      .field("loss", ElementType.F32)
      .field("flag", ElementType.BOOL)
      .field("day", ElementType.DATE)
      .field("name", ElementType.UTF8)
      .field("note", ElementType.UTF8, Shape.scalar(), Compression.parse("lz4"))
      .field("blob", ElementType.BYTES)
      .build();

  private final long seed = Budget.seed();
  private final Random random = Budget.random();

  @TempDir(factory = DirectoryInMemory.class)
  private static Path shared;

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  private static byte[] littleEndian(Kind kind, long value) {
    int bytes = ElementType.of(kind).widthBytes().getAsInt();
    byte[] all =
        ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
    return Arrays.copyOf(all, bytes);
  }

  /** Returns a value that mostly rises with the record, with extremes of the type among others. */
  private byte[] value(FieldSpec field, int record) {
    int rare = record < BLOCK ? -1 : random.nextInt(2000);
    Kind kind = field.type().kind();
    return switch (kind) {
      case F64 ->
        littleEndian(
            kind,
            Double.doubleToRawLongBits(
                switch (rare) {
                  case 0 -> Double.NaN;
                  case 1 -> Double.longBitsToDouble(0xfff8000000000001L);
                  case 2 -> Double.NEGATIVE_INFINITY;
                  case 3 -> -0.0;
                  default -> record * 0.5;
                }));
      case F32 ->
        littleEndian(
            kind,
            Float.floatToRawIntBits(
                switch (rare) {
                  case 0 -> Float.NaN;
                  case 2 -> Float.POSITIVE_INFINITY;
                  case 3 -> Float.MIN_VALUE;
                  default -> -0.1f * record;
                }));
      case UTF8 ->
        (rare == 0
                ? "\ud83d\ude00".repeat(record % 9)
                : "record-number-" + String.valueOf(1_000_000 + record).substring(1))
            .getBytes(StandardCharsets.UTF_8);
      case BYTES -> new byte[record % 3];
      case BOOL -> new byte[] {(byte) (record < BLOCK ? 0 : 1)};
      case U64 -> littleEndian(kind, rare == 0 ? -1 : record);
      default -> littleEndian(kind, rare == 0 ? Long.MIN_VALUE >> 1 | 0x8080 : record / 10);
    };
  }

  /** Writes {@value #RECORDS} records, which all tests share. */
  private void writeAll() {
    Path table = shared.resolve("table");
    if (!Files.exists(table)) {
      write(table, SCHEMA, RECORDS);
    }
    Damage.copy(table, directory);
  }

  private void write(int records) {
    write(SCHEMA, records);
  }

  private void write(RecordSchema schema, int records) {
    write(directory, schema, records);
  }

  private void write(Path table, RecordSchema schema, int records) {
    int[] ordinals =
        schema.fields().stream().mapToInt(field -> SCHEMA.ordinal(field.name())).toArray();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(table.toString(), schema, WriteOptions.defaults())) {
      RecordAppender appender = writer.newAppender();
      for (int i = 0; i < records; i++) {
        for (int f = 0; f < ordinals.length; f++) {
          if (i % ABSENT_EACH != ordinals[f]) {
            if (ordinals[f] == 0) {
              appender.shard().putLong(f, i);
            } else {
              byte[] value = value(schema.fields().get(f), i);
              appender.shard().put(f, value, 0, value.length);
            }
          }
        }
        appender.endRecord();
      }
      writer.commit();
    }
  }

  private RecordTable table() {
    return RecordTable.at(LocalStorage.at(directory));
  }

  private static long bits(byte[] littleEndian) {
    long bits = 0;
    for (int i = littleEndian.length - 1; i >= 0; i--) {
      bits = (bits << Byte.SIZE) | (littleEndian[i] & 0xff);
    }
    return bits;
  }

  private static long number(Kind kind, byte[] value) {
    long bits = bits(value);
    int shift = Long.SIZE - Byte.SIZE * value.length;
    return switch (kind) {
      case BOOL, U8, U16, U32, U64 -> bits;
      default -> bits << shift >> shift;
    };
  }

  private static double fraction(byte[] value) {
    return value.length == Float.BYTES
        ? Float.intBitsToFloat((int) bits(value))
        : Double.longBitsToDouble(bits(value));
  }

  /** Tells whether a value is within a range, without the code that is tested. */
  private static boolean isWithin(FieldSpec field, byte[] value, ValueRange range) {
    Kind kind = field.type().kind();
    if (range instanceof ValueRange.Integers integers) {
      long number = number(kind, value);
      boolean isHuge = kind == Kind.U64 && number < 0;
      return isHuge
          ? integers.most() == Long.MAX_VALUE
          : integers.least() <= number && number <= integers.most();
    }
    if (range instanceof ValueRange.Fractions fractions) {
      double number = fraction(value) + 0.0;
      return Double.compare(fractions.least() + 0.0, number) <= 0
          && Double.compare(number, fractions.most() + 0.0) <= 0;
    }
    ValueRange.Texts texts = (ValueRange.Texts) range;
    String most = texts.most();
    return Arrays.compareUnsigned(texts.least().getBytes(StandardCharsets.UTF_8), value) <= 0
        && (most == null
            || Arrays.compareUnsigned(value, most.getBytes(StandardCharsets.UTF_8)) <= 0);
  }

  /** Returns ranges that begin and end at values of the field, and some others. */
  private List<ValueRange> ranges(FieldSpec field, List<byte[]> values) {
    List<ValueRange> ranges = new ArrayList<>();
    if (field.type().kind() == Kind.F32 || field.type().kind() == Kind.F64) {
      ranges.add(new ValueRange.Fractions(0.0, -0.0));
      ranges.add(new ValueRange.Fractions(Double.NaN, Double.NaN));
    }
    for (int i = 0; i < 6; i++) {
      byte[] a = values.get(random.nextInt(values.size()));
      byte[] b = i % 3 == 0 ? a : values.get(random.nextInt(values.size()));
      Kind kind = field.type().kind();
      if (kind == Kind.UTF8) {
        ranges.add(new ValueRange.Texts(
            new String(a, StandardCharsets.UTF_8),
            i == 5 ? null : new String(b, StandardCharsets.UTF_8)));
      } else if (kind == Kind.F32 || kind == Kind.F64) {
        ranges.add(new ValueRange.Fractions(fraction(a), i == 5 ? Double.NaN : fraction(b)));
      } else {
        ranges.add(new ValueRange.Integers(
            i == 4 ? Long.MIN_VALUE : number(kind, a), i == 5 ? Long.MAX_VALUE : number(kind, b)));
      }
    }
    return ranges;
  }

  /** Compares searches in all fields with all values, and returns the records passed over. */
  private long requireNothingLost() {
    long passed = 0;
    try (RecordDataset dataset = RecordDataset.open(directory.toString())) {
      for (FieldSpec field : dataset.schema().fields()) {
        if (field.type().kind() != Kind.BYTES) {
          passed +=
              requireNothingLost("seed " + seed, dataset, field, values -> ranges(field, values));
        }
      }
    }
    return passed;
  }

  /** Compares searches in a field with all values, and returns the records passed over. */
  static long requireNothingLost(
      String name,
      RecordDataset dataset,
      FieldSpec field,
      Function<List<byte[]>, List<ValueRange>> ranges) {
    List<byte[]> present = new ArrayList<>();
    List<Long> indices = new ArrayList<>();
    FieldReader reader = dataset.reader(field.name());
    for (long from = 0; from < dataset.length(); ) {
      int count = (int) Math.min(10_000, dataset.length() - from);
      count = reader.selectRange(from, count, 1 << 24);
      for (int i = 0; i < count; i++) {
        if (!reader.isAbsent(i)) {
          present.add(reader.value(i));
          indices.add(from + i);
        }
      }
      from += count;
    }
    long passed = 0;
    for (ValueRange range : present.isEmpty() ? List.<ValueRange>of() : ranges.apply(present)) {
      IndexSet found = dataset.indicesThatMayHave(field.name(), range);
      passed += dataset.length() - found.count();
      for (int i = 0; i < present.size(); i++) {
        if (!found.contains(indices.get(i)) && isWithin(field, present.get(i), range)) {
          throw new AssertionError(name + ": " + range + " passes over record " + indices.get(i)
              + " of field " + field.name());
        }
      }
    }
    return passed;
  }

  private IndexSet search(String field, ValueRange... ranges) {
    try (RecordDataset dataset = RecordDataset.open(directory.toString())) {
      return dataset.indicesThatMayHave(field, ranges);
    }
  }

  private List<Finding> findings() {
    List<Finding> findings = new ArrayList<>();
    OpenShards.shared().clear();
    DatasetCheck.of(directory.toString()).run(findings::add);
    return findings;
  }

  @Test
  void onlyBlocksThatMayMatchAreFound() {
    writeAll();
    write(10);
    IndexSet middle = IndexSet.range(BLOCK, 2L * BLOCK);
    assertThat(search("row", new ValueRange.Integers(BLOCK, BLOCK + 5))).isEqualTo(middle);
    assertThat(search("row", new ValueRange.Integers(2 * BLOCK, Long.MAX_VALUE)))
        .isEqualTo(IndexSet.range(2L * BLOCK, RECORDS));
    assertThat(search("row", new ValueRange.Integers(1, 1)))
        .isEqualTo(IndexSet.range(0, BLOCK).union(IndexSet.range(RECORDS, RECORDS + 10)));
    assertThat(search("row", new ValueRange.Integers(RECORDS, Long.MAX_VALUE)).isEmpty())
        .isTrue();
    assertThat(search("row", new ValueRange.Integers(5, 4)).count()).isLessThan(RECORDS);
    assertThat(search("score", new ValueRange.Fractions(1e9, Double.POSITIVE_INFINITY))
            .isEmpty())
        .isTrue();
    assertThat(search("flag", new ValueRange.Integers(1, 1)))
        .isEqualTo(IndexSet.range(BLOCK, RECORDS));
    assertThat(search("name", new ValueRange.Texts("\ud83d\ude01", null)).isEmpty())
        .isTrue();
    // Only the first 16 bytes of a text are kept, which these have in common with others.
    ValueRange one = new ValueRange.Texts("record-number-000001", "record-number-000001");
    assertThat(search("note", one).intersect(IndexSet.range(0, BLOCK)).count()).isEqualTo(BLOCK);
  }

  @Test
  void nothingIsLostWhateverBecomesOfTheTable() {
    writeAll();
    write(10);
    assertThat(requireNothingLost()).isGreaterThan(0);

    try (RecordFieldsWriter writer =
        RecordFieldsWriter.rewrite(table(), Set.of("tiny"), WriteOptions.defaults())) {
      RecordAppender values = writer.newAppender(0);
      for (int i = 0; i < RECORDS; i++) {
        values.set("tiny", -i / BLOCK).endRecord();
      }
      writer.commit();
    }
    assertThat(search("tiny", new ValueRange.Integers(-2, -2)))
        .isEqualTo(IndexSet.range(2L * BLOCK, RECORDS));
    assertThat(findings()).isEmpty();

    RowChange change = RowChange.of(table().latest());
    for (int i = 0; i < 500; i++) {
      change.delete(3L * i);
    }
    change.delete(RECORDS);
    change.update(BLOCK - 1, "row", -99L);
    change.update(RECORDS - 2, "score", Double.NaN);
    change.update(7, "name", "zzz");
    change.commit();
    assertThat(search("row", new ValueRange.Integers(-100, -1)).contains(BLOCK - 1 - 500))
        .isTrue();
    assertThat(requireNothingLost()).isGreaterThan(0);
    assertThat(findings()).isEmpty();

    table().promoteField("short", ElementType.I64);
    table().promoteField("count", ElementType.U64);
    table().promoteField("loss", ElementType.F64);
    table().promoteField("day", ElementType.TIMESTAMP_NTZ);
    table()
        .addFields(List.of(
            new FieldSpec(
                1,
                "extra",
                ElementType.I32,
                Shape.scalar(),
                Compression.RAW,
                Map.of(),
                new FieldRules(true, "05000000", null, "")),
            new FieldSpec(1, "later", ElementType.I32, Shape.scalar(), Compression.RAW)));
    assertThat(search("extra", new ValueRange.Integers(5, 5)).count()).isEqualTo(RECORDS - 491);
    assertThat(search("later", new ValueRange.Integers(5, 5)).isEmpty()).isTrue();
    assertThat(findings()).isEmpty();

    TableRebalance.of(
            RebalancePlan.of(table().latest(), RebalanceOptions.defaults().withAllShards()))
        .run();
    assertThat(table().latest().shards()).hasSize(1);
    assertThat(requireNothingLost()).isGreaterThan(0);
    assertThat(findings()).isEmpty();
  }

  @Test
  void severalRangesAreOneSearch() {
    writeAll();
    ValueRange first = new ValueRange.Integers(1, 1);
    ValueRange last = new ValueRange.Integers(RECORDS - 1, RECORDS);
    assertThat(search("row", first, last))
        .isEqualTo(search("row", first).union(search("row", last)));
    assertThat(search("row", last, first)).isEqualTo(search("row", first, last));
    assertThat(search("row", first, last).count()).isEqualTo(RECORDS - BLOCK);
    assertThat(search("row").isEmpty()).isTrue();
    assertThatThrownBy(() -> search("row", first, new ValueRange.Fractions(0, 1)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void absentValuesAreFoundByTheirNumber() {
    RecordSchema schema = RecordSchema.builder()
        .field("row", ElementType.I64)
        .field("sparse", ElementType.I32)
        .field("blob", ElementType.BYTES)
        .build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(directory.toString(), schema, WriteOptions.defaults())) {
      RecordAppender appender = writer.newAppender();
      for (int i = 0; i < RECORDS; i++) {
        appender.set("row", (long) i).set("blob", new byte[] {1});
        if (i < BLOCK || i == 2 * BLOCK) {
          appender.set("sparse", i);
        }
        appender.endRecord();
      }
      writer.commit();
    }
    ValueRange absent = ValueRange.Presence.ABSENT;
    ValueRange present = ValueRange.Presence.PRESENT;
    IndexSet all = IndexSet.range(0, RECORDS);
    assertThat(search("row", absent).isEmpty()).isTrue();
    assertThat(search("row", present)).isEqualTo(all);
    assertThat(search("sparse", absent)).isEqualTo(IndexSet.range(BLOCK, RECORDS));
    assertThat(search("sparse", present))
        .isEqualTo(IndexSet.range(0, BLOCK).union(IndexSet.range(2L * BLOCK, RECORDS)));
    assertThat(search("sparse", absent, new ValueRange.Integers(5, 5))).isEqualTo(all);
    assertThat(search("blob", absent)).isEqualTo(all);
    assertThat(search("blob", present)).isEqualTo(all);

    table()
        .addFields(
            List.of(new FieldSpec(1, "later", ElementType.I32, Shape.scalar(), Compression.RAW)));
    RowChange change = RowChange.of(table().latest());
    change.update(3, "row", null);
    change.update(2 * BLOCK - 1, "sparse", 7);
    change.commit();
    assertThat(search("row", absent)).isEqualTo(IndexSet.range(0, BLOCK));
    assertThat(search("sparse", present)).isEqualTo(all);
    assertThat(search("later", absent)).isEqualTo(all);
    assertThat(search("later", present).isEmpty()).isTrue();
  }

  @Test
  void aRangeOfOtherValuesIsRefused() {
    write(10);
    for (String field : List.of("row", "name", "blob")) {
      assertThatThrownBy(() -> search(field, new ValueRange.Fractions(0, 1)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'" + field + "'");
    }
    assertThatThrownBy(() -> new ValueRange.Texts("\ud83d", null))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** Writes the statistics of a block again, with a checksum that holds. */
  private void change(String field, int block, UnaryOperator<StatisticsRecord> to)
      throws Exception {
    ShardOnDisk shard = onDisk();
    FieldTables tables = shard.field(SCHEMA.fields().get(SCHEMA.ordinal(field)).id());
    byte[] file = Files.readAllBytes(shard.tables());
    int at = (int) tables.statistics().position();
    byte[] section = Arrays.copyOfRange(file, at, at + (int) tables.statistics().bytes());
    UUID id = shard.json().shardId();
    Binding binding = new Binding(id, tables.id());
    StatisticsRecord record = StatisticsRecord.decode(section, block, BLOCK, binding);
    byte[] changed = to.apply(record).encode(binding, block);
    System.arraycopy(changed, 0, file, at + block * changed.length, changed.length);
    Files.write(shard.tables(), file);
  }

  private ShardOnDisk onDisk() {
    return ShardOnDisk.of(directory.resolve(table().latest().shards().get(0).directory()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"row", "part", "count", "score", "name", "note"})
  void aCheckFindsWhatIsTooTight(String field) throws Exception {
    write(new RecordSchema(List.of(SCHEMA.fields().get(SCHEMA.ordinal(field)))), BLOCK + 1000);
    assertThat(findings()).isEmpty();
    record Case(UnaryOperator<StatisticsRecord> change, String problem) {}
    List<Case> cases = List.of(
        new Case(r -> with(r, r.absentCount() + 1, 0, 0, 0), "absent values, but there are"),
        new Case(r -> with(r, r.absentCount(), 1, 0, 0), "NaN, but there are"),
        new Case(r -> with(r, r.absentCount(), 0, 1, 0), "bounds that a value is not within"),
        new Case(r -> with(r, r.absentCount(), 0, 0, -1), "bounds that a value is not within"));
    byte[] sound = Files.readAllBytes(onDisk().tables());
    for (int block = 0; block < 2; block++) {
      for (Case one : cases) {
        change(field, block, one.change);
        assertThat(findings())
            .extracting(Finding::problem)
            .singleElement()
            .asString()
            .startsWith("the statistics of block " + block)
            .contains(one.problem);
        Files.write(onDisk().tables(), sound);
      }
      // Bounds that are said to be those of values are no others.
      change(
          field,
          block,
          r -> new StatisticsRecord(r.absentCount(), r.nanCount(), true, true, 0, 0, -1, -1));
      assertThat(findings())
          .extracting(Finding::problem)
          .containsExactly(
              "the statistics of block " + block + " say bounds that are not those of the values");
      Files.write(onDisk().tables(), sound);
      // Wider bounds lose nothing.
      change(
          field,
          block,
          r -> new StatisticsRecord(r.absentCount(), r.nanCount(), true, false, 0, 0, -1, -1));
      assertThat(findings()).isEmpty();
      Files.write(onDisk().tables(), sound);
    }
  }

  /** Moves the bounds by the last place of the first 8 bytes, or counts more NaN. */
  private static StatisticsRecord with(
      StatisticsRecord r, long absent, long nan, long least, long most) {
    return new StatisticsRecord(
        absent,
        r.nanCount() + nan,
        true,
        nan > 0,
        r.leastHigh() + least,
        r.leastLow(),
        r.mostHigh() + most,
        r.mostLow());
  }

  /** Control of the tests above: a search believes the bounds, so that one too tight loses. */
  @Test
  void aSearchBelievesTheBounds() throws Exception {
    writeAll();
    change(
        "row",
        1,
        r -> new StatisticsRecord(
            r.absentCount(), 0, true, true, r.leastHigh() + 1000, 0, r.mostHigh(), 0));
    OpenShards.shared().clear();
    assertThat(search("row", new ValueRange.Integers(BLOCK, BLOCK + 5)).isEmpty())
        .isTrue();
    try (RecordDataset dataset = RecordDataset.open(directory.toString())) {
      ValueRange range = new ValueRange.Integers(BLOCK + 1, BLOCK + 2);
      assertThatThrownBy(() -> requireNothingLost(
              "control", dataset, SCHEMA.fields().get(0), values -> List.of(range)))
          .isInstanceOf(AssertionError.class)
          .hasMessageContaining("of field row");
    }
  }

  @Test
  void damageIsFound() throws Exception {
    write(BLOCK + 1000);
    byte[] sound = Files.readAllBytes(onDisk().tables());
    FieldTables field =
        onDisk().field(SCHEMA.fields().get(SCHEMA.ordinal("score")).id());
    for (int at = 0; at < field.statistics().bytes(); at += 5) {
      byte[] damaged = sound.clone();
      damaged[(int) field.statistics().position() + at] ^= 1;
      Files.write(onDisk().tables(), damaged);
      OpenShards.shared().clear();
      assertThatThrownBy(() -> search("score", new ValueRange.Fractions(0, 1)))
          .as("byte %s", at)
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("statistics of field");
    }
    assertThat(findings()).extracting(Finding::field).containsExactly("score");
  }
}
