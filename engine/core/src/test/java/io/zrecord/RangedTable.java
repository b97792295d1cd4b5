package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.findings.Finding;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.FieldReader;
import io.zrecord.read.IndexSet;
import io.zrecord.read.ValueRange;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.ElementType.Kind;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
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
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.io.TempDir;

/** A table with fields that have statistics, whose ranges tests search for. */
abstract class RangedTable {
  static final int BLOCK = StatisticsRecord.SLOTS;

  static final int RECORDS = 2 * BLOCK + 1000;

  static final int ABSENT_EACH = 7;

  static final RecordSchema SCHEMA = RecordSchema.builder()
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

  final long seed = Budget.seed();

  final Random random = Budget.random();

  @TempDir(factory = DirectoryInMemory.class)
  static Path shared;

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  static byte[] littleEndian(Kind kind, long value) {
    int bytes = ElementType.of(kind).widthBytes().getAsInt();
    byte[] all =
        ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
    return Arrays.copyOf(all, bytes);
  }

  /** Returns a value that mostly rises with the record, with extremes of the type among others. */
  byte[] value(FieldSpec field, int record) {
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
  void writeAll() {
    Path table = shared.resolve("table");
    if (!Files.exists(table)) {
      write(table, SCHEMA, RECORDS);
    }
    Damage.copy(table, directory);
  }

  void write(int records) {
    write(SCHEMA, records);
  }

  void write(RecordSchema schema, int records) {
    write(directory, schema, records);
  }

  void write(Path table, RecordSchema schema, int records) {
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

  RecordTable table() {
    return RecordTable.at(LocalStorage.at(directory));
  }

  static long bits(byte[] littleEndian) {
    long bits = 0;
    for (int i = littleEndian.length - 1; i >= 0; i--) {
      bits = (bits << Byte.SIZE) | (littleEndian[i] & 0xff);
    }
    return bits;
  }

  static long number(Kind kind, byte[] value) {
    long bits = bits(value);
    int shift = Long.SIZE - Byte.SIZE * value.length;
    return switch (kind) {
      case BOOL, U8, U16, U32, U64 -> bits;
      default -> bits << shift >> shift;
    };
  }

  static double fraction(byte[] value) {
    return value.length == Float.BYTES
        ? Float.intBitsToFloat((int) bits(value))
        : Double.longBitsToDouble(bits(value));
  }

  /** Tells whether a value is within a range, without the code that is tested. */
  static boolean isWithin(FieldSpec field, byte[] value, ValueRange range) {
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
  List<ValueRange> ranges(FieldSpec field, List<byte[]> values) {
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
  long requireNothingLost() {
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
    List<ValueRange> tried = present.isEmpty() ? List.of() : ranges.apply(present);
    for (ValueRange range : tried) {
      requireFound(name, dataset, field, indices, present, List.of(range));
      IndexSet found = dataset.indicesThatMayHave(field.name(), range);
      passed += dataset.length() - found.count();
      for (int i = 0; i < present.size(); i++) {
        if (!found.contains(indices.get(i)) && isWithin(field, present.get(i), range)) {
          throw new AssertionError(name + ": " + range + " passes over record " + indices.get(i)
              + " of field " + field.name());
        }
      }
    }
    requireFound(name, dataset, field, indices, present, tried);
    return passed;
  }

  /** Compares a search by values, among all records and among some of them, with all values. */
  private static void requireFound(
      String name,
      RecordDataset dataset,
      FieldSpec field,
      List<Long> indices,
      List<byte[]> present,
      List<ValueRange> ranges) {
    IndexSet.Builder within = new IndexSet.Builder();
    for (int i = 0; i < present.size(); i++) {
      byte[] value = present.get(i);
      if (ranges.stream().anyMatch(range -> isWithin(field, value, range))) {
        within.add(indices.get(i), indices.get(i) + 1);
      }
    }
    IndexSet expected = within.build();
    ValueRange[] all = ranges.toArray(ValueRange[]::new);
    assertThat(dataset.indicesThatHave(field.name(), all))
        .as("%s: %s of field %s", name, ranges, field.name())
        .isEqualTo(expected);
    IndexSet.Builder scattered = new IndexSet.Builder();
    IndexSet.Builder runs = new IndexSet.Builder();
    for (long i = 0; i < dataset.length(); i += 1 + i % 11) {
      scattered.add(i, i + 1);
    }
    for (long i = 0; i < dataset.length(); i += 5000) {
      runs.add(i, Math.min(dataset.length(), i + 100 + i % 700));
    }
    for (IndexSet some : List.of(scattered.build(), runs.build(), IndexSet.empty())) {
      assertThat(dataset.finder(field.name(), all).among(some))
          .as("%s: %s of field %s among %s", name, ranges, field.name(), some)
          .isEqualTo(expected.intersect(some));
    }
  }

  IndexSet search(String field, ValueRange... ranges) {
    try (RecordDataset dataset = RecordDataset.open(directory.toString())) {
      return dataset.indicesThatMayHave(field, ranges);
    }
  }

  List<Finding> findings() {
    List<Finding> findings = new ArrayList<>();
    OpenShards.shared().clear();
    DatasetCheck.of(directory.toString()).run(findings::add);
    return findings;
  }
}
