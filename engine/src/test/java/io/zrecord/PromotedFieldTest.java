package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.inspect.DatasetInspection;
import io.zrecord.inspect.FieldUsage;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Promotions;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.testing.Budget;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Fields of which a wider type was declared after their values were written. */
final class PromotedFieldTest {
  private static final int RECORDS = 5000;
  private static final List<String> CODECS = List.of("raw", "zstd");

  @TempDir
  Path directory;

  /** Every row of the table of promotions of FORMAT.md, and steps over several rows. */
  @ParameterizedTest
  @CsvSource(delimiter = ' ', textBlock = """
          i8 i16
          i8 i64
          i16 i32
          i32 i64
          u8 u16
          u8 u64
          u16 u32
          u32 u64
          f32 f64
          date timestamp_ntz
          decimal(3,1) decimal(9,1)
          decimal(3,1) decimal(12,1)
          decimal(12,1) decimal(38,1)
          """)
  void valuesAreConvertedWhateverTheirLayout(String stored, String wanted) {
    ElementType from = ElementType.parse(stored);
    ElementType to = ElementType.parse(wanted);
    List<FieldSpec> fields = new ArrayList<>();
    for (String codec : CODECS) {
      for (Shape shape : List.of(Shape.scalar(), Shape.of(3), Shape.of(-1))) {
        fields.add(new FieldSpec(
            fields.size() + 1, codec + shape, from, shape, Compression.of(Codec.parse(codec))));
      }
    }
    Path path = directory.resolve("table");
    byte[][][] values = write(path, fields, from.widthBytes().orElseThrow());
    RecordTable table = RecordTable.at(LocalStorage.at(path));
    fields.forEach(field -> table.promoteField(field.name(), to));
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      for (int field = 0; field < fields.size(); field++) {
        FieldReader reader = dataset.reader(fields.get(field).name());
        requireGathered(reader, values[field], from, to);
        requireRanges(reader, values[field], from, to);
      }
    }
    List<FieldUsage> usages =
        DatasetInspection.of(path.toString()).run(shard -> {}).fields();
    for (int field = 0; field < fields.size(); field++) {
      assertThat(usages.get(field).absentCount())
          .isEqualTo(Stream.of(values[field]).filter(Objects::isNull).count());
    }
  }

  private static byte[][][] write(Path path, List<FieldSpec> fields, int width) {
    Random random = Budget.random();
    byte[][][] values = new byte[fields.size()][RECORDS][];
    RecordSchema schema = new RecordSchema(fields);
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), schema, WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < RECORDS; i++) {
        for (int field = 0; field < fields.size(); field++) {
          if (random.nextInt(7) > 0) {
            Shape shape = fields.get(field).shape();
            int elements =
                shape.isVariable() ? random.nextInt(4) : shape.elementCount().orElseThrow();
            byte[] value = new byte[elements * width];
            random.nextBytes(value);
            if (fields.get(field).type().equals(ElementType.DATE)) {
              for (int at = 3; at < value.length; at += 4) {
                value[at] = (byte) -(value[at] & 1); // Within a million years.
              }
            }
            values[field][i] = value;
            records.set(fields.get(field).name(), value);
          }
        }
        records.endRecord();
      }
      writer.commit();
    }
    return values;
  }

  private static void requireGathered(
      FieldReader reader, byte[][] values, ElementType from, ElementType to) {
    long[] indices = Budget.random().longs(500, 0, RECORDS).toArray();
    reader.select(indices, 0, indices.length);
    for (int k = 0; k < indices.length; k++) {
      requireValue(reader, k, values[(int) indices[k]], from, to);
    }
  }

  private static void requireRanges(
      FieldReader reader, byte[][] values, ElementType from, ElementType to) {
    for (int done = 0; done < RECORDS; ) {
      int taken = reader.selectRange(done, Math.min(1000, RECORDS - done), 512);
      assertThat(taken).isPositive();
      assertThat(taken == 1 || reader.totalLengthBytes() <= 512).isTrue();
      for (int k = 0; k < taken; k++) {
        requireValue(reader, k, values[done + k], from, to);
      }
      done += taken;
    }
  }

  private static void requireValue(
      FieldReader reader, int k, byte[] written, ElementType from, ElementType to) {
    assertThat(reader.isAbsent(k)).isEqualTo(written == null);
    if (written == null) {
      return;
    }
    byte[] read = reader.value(k);
    int before = from.widthBytes().orElseThrow();
    int after = to.widthBytes().orElseThrow();
    assertThat(read).hasSize(written.length / before * after);
    for (int i = 0; i * before < written.length; i++) {
      byte[] old = Arrays.copyOfRange(written, i * before, (i + 1) * before);
      byte[] now = Arrays.copyOfRange(read, i * after, (i + 1) * after);
      switch (from.kind()) {
        case F32 ->
          assertThat(little(now).getDouble())
              .isEqualTo(Double.valueOf(little(old).getFloat()));
        case DATE ->
          assertThat(little(now).getLong()).isEqualTo(little(old).getInt() * 86_400_000_000L);
        case U8, U16, U32 -> assertThat(number(now, 1)).isEqualTo(number(old, 1));
        default -> assertThat(number(now, 0)).isEqualTo(number(old, 0));
      }
    }
  }

  private static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static BigInteger number(byte[] littleEndian, int signum) {
    byte[] big = new byte[littleEndian.length];
    for (int i = 0; i < big.length; i++) {
      big[i] = littleEndian[big.length - 1 - i];
    }
    return signum == 0 ? new BigInteger(big) : new BigInteger(1, big);
  }

  @ParameterizedTest
  @CsvSource(delimiter = ' ', textBlock = """
          i64 f64
          i32 u64
          u8 i16
          i32 i16
          f64 f32
          f16 f32
          date timestamp
          bytes utf8
          decimal(9,2) decimal(9,1)
          decimal(9,2) decimal(8,2)
          bool u8
          """)
  void otherTypesAreNoPromotions(String stored, String wanted) {
    assertThat(Promotions.allows(ElementType.parse(stored), ElementType.parse(wanted)))
        .isFalse();
  }

  @Test
  void aDateBeyondTheRangeIsRefusedWhenItIsRead() {
    FieldSpec day = new FieldSpec(1, "day", ElementType.DATE, Shape.scalar(), Compression.RAW);
    Path path = directory.resolve("table");
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(
        path.toString(), new RecordSchema(List.of(day)), WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      records.set("day", 1).endRecord();
      records.set("day", Integer.MAX_VALUE).endRecord();
      writer.commit();
    }
    RecordTable table = RecordTable.at(LocalStorage.at(path));
    table.promoteField("day", ElementType.TIMESTAMP_NTZ);
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      FieldReader reader = dataset.reader("day");
      reader.select(new long[] {0}, 0, 1);
      assertThat(little(reader.value(0)).getLong()).isEqualTo(86_400_000_000L);
      assertThatThrownBy(() -> reader.select(new long[] {1}, 0, 1))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("date");
    }
    assertThatThrownBy(() -> table.promoteField("day", ElementType.DATE))
        .isInstanceOf(SchemaMismatchException.class);
  }
}
