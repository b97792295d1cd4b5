package io.zrecord.npy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that NumPy wrote (see {@code npy/generate.py}), and files that it would not. */
final class NpyImporterTest {
  @TempDir
  Path directory;

  private static Path golden(String name) {
    return Path.of("src/test/resources/npy").resolve(name + ".npy");
  }

  /** Imports a file; the values of its records, {@code null} where absent. */
  private List<byte[]> values(Path npy, FieldSpec[] field) {
    Path dataset = directory.resolve(UUID.randomUUID().toString());
    NpyImporter.importFile(
        npy, dataset.toString(), "x", WriteOptions.defaults().withStripeBytes(1 << 16));
    List<byte[]> values = new ArrayList<>();
    try (RecordDataset opened = RecordDataset.open(dataset.toString())) {
      field[0] = opened.schema().find("x").orElseThrow();
      FieldReader reader = opened.reader("x");
      for (long i = 0; i < opened.length(); i++) {
        reader.selectRange(i, 1, Long.MAX_VALUE);
        values.add(reader.isAbsent(0) ? null : reader.value(0));
      }
    }
    return values;
  }

  private static double number(ElementType type, ByteBuffer buffer) {
    return switch (type.kind()) {
      case BOOL, I8 -> buffer.get();
      case U8 -> buffer.get() & 0xff;
      case I16, U16 -> buffer.getShort();
      case I32, U32 -> buffer.getInt();
      case I64, U64 -> buffer.getLong();
      case F16 -> half(buffer.getShort());
      case F32 -> buffer.getFloat();
      case F64 -> buffer.getDouble();
      default -> throw new AssertionError(type);
    };
  }

  private static double half(short bits) {
    int exponent = bits >> 10 & 0x1f;
    return exponent == 0 ? 0 : Math.scalb(1 + (bits & 0x3ff) / 1024.0, exponent - 15);
  }

  private static ByteBuffer buffer(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  static Stream<String> numbers() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("src/test/resources/npy"))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.matches("([iuf]\\d|rank|version).*\\.npy"))
          .map(name -> name.substring(0, name.length() - 4))
          .toList()
          .stream();
    }
  }

  @ParameterizedTest
  @MethodSource("numbers")
  void everyNumberOfEveryOrderAndRankIsTheSame(String name) {
    FieldSpec[] field = new FieldSpec[1];
    List<byte[]> values = values(golden(name), field);
    boolean isRank4 = name.startsWith("rank4");
    boolean isRank1 = name.equals("rank1");
    assertThat(field[0].shape())
        .isEqualTo(isRank4 ? Shape.of(2, 3, 5) : isRank1 ? Shape.scalar() : Shape.of(3));
    assertThat(values).hasSize(isRank4 ? 4 : isRank1 ? 7 : 5);
    if (name.matches("[iuf]\\d-.*")) {
      int bits = 8 * (name.charAt(1) - '0');
      assertThat(field[0].type().toString()).isEqualTo(name.charAt(0) + "" + bits);
    }
    for (int i = 0; i < values.size(); i++) {
      ByteBuffer buffer = buffer(values.get(i));
      for (int j = 0; j < field[0].shape().elementCount().orElseThrow(); j++) {
        assertThat(number(field[0].type(), buffer)).isEqualTo((i * 31 + j * 7) % 120);
      }
      assertThat(buffer.hasRemaining()).isFalse();
    }
  }

  @Test
  void booleansAndComplexNumbersHaveTheirForms() {
    FieldSpec[] field = new FieldSpec[1];
    assertThat(values(golden("bool"), field).get(1)).containsExactly(1, 0, 1);
    assertThat(field[0].type()).isEqualTo(ElementType.BOOL);
    List<byte[]> small = values(golden("complex64"), field);
    assertThat(field[0].type()).isEqualTo(ElementType.F32);
    assertThat(field[0].shape()).isEqualTo(Shape.of(3, 2));
    ByteBuffer buffer = buffer(small.get(1));
    assertThat(List.of(buffer.getFloat(), buffer.getFloat(), buffer.getFloat()))
        .containsExactly(31f, 32f, 38f);
    buffer = buffer(values(golden("complex128-be"), field).get(4));
    assertThat(field[0].shape()).isEqualTo(Shape.of(3, 2));
    assertThat(List.of(buffer.getDouble(), buffer.getDouble(), buffer.getDouble()))
        .containsExactly(4.0, 5.0, 11.0);
  }

  @Test
  void stringsLoseTheirPaddingOnly() {
    FieldSpec[] field = new FieldSpec[1];
    assertThat(values(golden("bytes"), field))
        .extracting(value -> new String(value, UTF_8))
        .containsExactly("alpha", "", "be\0ta", "tail");
    assertThat(field[0].type()).isEqualTo(ElementType.BYTES);
    for (String name : List.of("text", "text-be")) {
      assertThat(values(golden(name), field))
          .extracting(value -> new String(value, UTF_8))
          .containsExactly("alpha", "", "标签", "😀x");
      assertThat(field[0].type()).isEqualTo(ElementType.UTF8);
    }
  }

  @Test
  void timesAreMicrosecondsAndNotATimeIsAbsent() {
    FieldSpec[] field = new FieldSpec[1];
    List<byte[]> times = values(golden("datetime-us"), field);
    assertThat(field[0].type()).isEqualTo(ElementType.TIMESTAMP_NTZ);
    long seconds = LocalDateTime.of(2026, 1, 2, 3, 4, 5).toEpochSecond(ZoneOffset.UTC);
    assertThat(buffer(times.get(0)).getLong()).isEqualTo(1);
    assertThat(buffer(times.get(1)).getLong()).isEqualTo(seconds * 1_000_000 + 678_901);
    assertThat(times.get(2)).isNull();
    assertThat(values(golden("datetime-ms"), field))
        .extracting(value -> buffer(value).getLong())
        .containsExactly(1000L, -1000L);
    List<byte[]> days = values(golden("datetime-day"), field);
    assertThat(field[0].type()).isEqualTo(ElementType.DATE);
    assertThat(buffer(days.get(0)).getInt()).isEqualTo(1);
    assertThat(days.get(1)).isNull();
  }

  @Test
  void emptyArraysAreDatasets() {
    FieldSpec[] field = new FieldSpec[1];
    assertThat(values(golden("no-records"), field)).isEmpty();
    assertThat(field[0].shape()).isEqualTo(Shape.of(3));
    assertThat(values(golden("no-elements"), field))
        .hasSize(5)
        .allMatch(value -> value.length == 0);
  }

  @ParameterizedTest
  @CsvSource({
    "structured, structured",
    "object, |O",
    "void, |V4",
    "longdouble, f16",
    "timedelta, m8",
    "datetime-month, M8[M]",
    "scalar, reshape",
    "bytes-rank2, one axis"
  })
  void whatHasNoFormIsRefused(String name, String reason) {
    Path dataset = directory.resolve(name);
    assertThatThrownBy(() ->
            NpyImporter.importFile(golden(name), dataset.toString(), "x", WriteOptions.defaults()))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining(name + ".npy")
        .hasMessageContaining(reason);
    assertThat(dataset).doesNotExist();
  }

  @Test
  void arraysOfTheSameLengthAreFieldsOfOneDataset() {
    Map<String, Path> files = new LinkedHashMap<>();
    files.put("a", golden("f4-le-fortran"));
    files.put("b", golden("i8-be-c"));
    Path dataset = directory.resolve("two");
    assertThat(NpyImporter.importFiles(files, dataset.toString(), WriteOptions.defaults())
            .length())
        .isEqualTo(5);
    files.put("c", golden("rank1"));
    assertThatThrownBy(() -> NpyImporter.importFiles(
            files, directory.resolve("three").toString(), WriteOptions.defaults()))
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("7 of 'c'");
  }

  @Test
  void blocksJoinWithoutASeam() throws IOException {
    int records = 70_001;
    int[] shape = {records, 3, 5};
    for (boolean isFortran : new boolean[] {false, true}) {
      Path file = directory.resolve("big-" + isFortran + ".npy");
      ByteBuffer data = ByteBuffer.allocate(records * 15 * 8).order(ByteOrder.BIG_ENDIAN);
      for (int n = 0; n < records * 15; n++) {
        int i = isFortran ? n % records : n / 15;
        int j = isFortran ? n / records % 3 : n / 5 % 3;
        int k = isFortran ? n / records / 3 : n % 5;
        data.putLong(i * 1000L + j * 10L + k);
      }
      write(
          file,
          "{'descr': '>i8', 'fortran_order': " + (isFortran ? "True" : "False") + ", 'shape': ("
              + shape[0] + ", 3, 5), }",
          data.array());
      Path dataset = directory.resolve("big-dataset-" + isFortran);
      NpyImporter.importFile(file, dataset.toString(), "x", WriteOptions.defaults());
      try (RecordDataset opened = RecordDataset.open(dataset.toString())) {
        FieldReader reader = opened.reader("x");
        reader.selectRange(0, records, Long.MAX_VALUE);
        byte[] all = new byte[records * 15 * 8];
        assertThat(reader.count()).isEqualTo(records);
        reader.copyAll(all, 0);
        ByteBuffer buffer = buffer(all);
        for (int n = 0; n < records * 15; n++) {
          assertThat(buffer.getLong()).isEqualTo(n / 15 * 1000L + n / 5 % 3 * 10L + n % 5);
        }
      }
    }
  }

  private static void write(Path file, String header, byte[] data) throws IOException {
    byte[] text = header.getBytes(UTF_8);
    ByteBuffer content = ByteBuffer.allocate(10 + text.length + data.length);
    content
        .order(ByteOrder.LITTLE_ENDIAN)
        .put(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0});
    content.putShort((short) text.length).put(text).put(data);
    Files.write(file, content.array());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (-2,)}",
        "{'descr': '<i4', 'fortran_order': 0, 'shape': (2,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2,)} x",
        "{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
        "{'descr': '\\x3ci4', 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (((((((2",
        "{'descr': '<i4' 'fortran_order': False, 'shape': (2,)}",
        "{'descr': __import__('os').system('x'), 'fortran_order': False, 'shape': (2,)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}"
      })
  void headersThatNumPyDoesNotWriteAreRefused(String header) throws IOException {
    Path file = directory.resolve("bad.npy");
    write(file, header, new byte[8]);
    assertThatThrownBy(() -> NpyImporter.importFile(
            file, directory.resolve("bad").toString(), "x", WriteOptions.defaults()))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(file.toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "(100000000000000000,)",
        "(3,)",
        "(1, 2000000000, 2000000000)",
        "(4294967296, 4294967296)",
        "(900000000000000000, 0)"
      })
  void sizesThatTheFileDoesNotHaveAllocateNothing(String shape) throws IOException {
    Path file = directory.resolve("huge.npy");
    write(file, "{'descr': '<i4', 'fortran_order': True, 'shape': " + shape + "}", new byte[8]);
    assertThatThrownBy(() -> NpyImporter.importFile(
            file, directory.resolve("huge").toString(), "x", WriteOptions.defaults()))
        .isInstanceOfAny(TruncatedFileException.class, UnsupportedFormatException.class);
  }

  @Test
  void everyTruncationOfAFileIsFound() throws IOException {
    byte[] whole = Files.readAllBytes(golden("f4-le-c"));
    Path file = directory.resolve("cut.npy");
    for (int length = 0; length < whole.length; length++) {
      Files.write(file, java.util.Arrays.copyOf(whole, length));
      assertThatThrownBy(() -> NpyImporter.importFile(
              file, directory.resolve("cut").toString(), "x", WriteOptions.defaults()))
          .isInstanceOf(ZRecordException.class)
          .hasMessageContaining(file.toString());
    }
  }

  @Test
  void whatIsNoFileIsNamed() {
    for (Path path : List.of(directory, directory.resolve("none.npy"))) {
      assertThatThrownBy(() -> NpyImporter.importFile(
              path, directory.resolve("d").toString(), "x", WriteOptions.defaults()))
          .isInstanceOf(MissingFileException.class)
          .hasMessageContaining(path.toString());
    }
  }
}
