package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.fasterxml.jackson.databind.JsonNode;
import io.zrecord.Batch;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.store.RecordStore;
import io.zrecord.store.RecordValues;
import io.zrecord.store.StoreDurability;
import io.zrecord.store.StoreOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lines are read from their tokens, and give what {@link ValueJson} makes of the same values. */
class JsonLinesTest {
  private static final StoreOptions OPTIONS =
      StoreOptions.defaults().withDurability(StoreDurability.NONE);
  private static final List<Shape> SHAPES =
      List.of(Shape.scalar(), Shape.of(2), Shape.of(-1), Shape.of(-1, 2), Shape.of(2, 1));
  private static final String[] VALUES = {
    "true",
    "0",
    "-1",
    "127",
    "128",
    "-128",
    "-129",
    "255",
    "256",
    "32767",
    "32768",
    "-32769",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483649",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e400",
    "1.5",
    "1e2",
    "1.0",
    "-0.0",
    "0.1",
    "16777217",
    "1e-46",
    "12345678901234567890123",
    "\"NaN\"",
    "\"-Infinity\"",
    "\"12.34\"",
    "\"1\"",
    "\"AQI=\"",
    "\"AQI\"",
    "\"é😀\"",
    "\"a\\ud83d\"",
    "\"a\\ud83d\\ude00\"",
    "\"2026-11-22\"",
    "\"2026-11-22T08:00:00Z\"",
    "\"2026-11-22T08:00:00\"",
    "[]",
    "[1]",
    "[1,2]",
    "[1,2,3]",
    "[[1,2]]",
    "[[1,2],[3,4.5]]",
    "[[1],[2]]",
    "[[1],[2,3]]",
    "[1,[2]]",
    "[true,false]",
    "[[true],[false]]",
    "[1,null]",
    "[\"NaN\",1]",
    "[[\"NaN\",1]]",
    "[1,256]",
    "{}",
    "{\"a\":1}"
  };

  @TempDir
  Path directory;

  private static ElementType type(ElementType.Kind kind) {
    return switch (kind) {
      case DECIMAL -> ElementType.decimal(9, 2);
      case NESTED -> ElementType.nested(NestedType.listOf(NestedType.of(ElementType.I32)));
      default -> ElementType.of(kind);
    };
  }

  @Test
  void everyValueIsThatOfTheTreeOrIsRefusedInItsWords() throws IOException {
    int accepted = 0;
    for (ElementType.Kind kind : ElementType.Kind.values()) {
      ElementType type = type(kind);
      boolean isText = type.widthBytes().isEmpty();
      for (int s = 0; s < (isText ? 1 : SHAPES.size()); s++) {
        FieldSpec field = new FieldSpec(1, "value", type, SHAPES.get(s), Compression.RAW);
        accepted += compare(field, directory.resolve(kind + "-" + s));
      }
    }
    assertThat(accepted).isGreaterThan(200);
  }

  private static int compare(FieldSpec field, Path path) throws IOException {
    RecordSchema schema = new RecordSchema(List.of(field));
    int accepted = 0;
    try (RecordStore store = RecordStore.create(path, schema, OPTIONS)) {
      JsonLines lines = new JsonLines(schema);
      RecordValues values = store.newValues();
      for (String value : VALUES) {
        JsonNode tree = ValueJson.MAPPER.readTree(value);
        byte[][] wanted = new byte[1][];
        Throwable wrong = catchThrowable(() -> {
          wanted[0] = ValueJson.toBytes(field, tree);
          values.set("value", wanted[0]);
        });
        String line = " {\"value\" : " + value + "}";
        Throwable found = catchThrowable(() -> lines.read(line, values));
        assertThat(found == null ? null : found.toString())
            .as("%s of %s%s", value, field.type(), field.shape())
            .isEqualTo(wrong == null ? null : wrong.toString());
        if (found == null) {
          store.append(values);
          store.commit();
          try (Batch batch = store.gather(new long[] {accepted++})) {
            assertThat(batch.bytes("value", 0)).as("%s", value).isEqualTo(wanted[0]);
          }
        }
      }
    }
    return accepted;
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[1]",
        "{\"value\":1",
        "{\"value\":1} {}",
        "{\"value\":1}x",
        "{\"value\":1,\"value\":1}",
        "{\"other\":1}",
        "7",
        "{value:1}"
      })
  void whatIsNoRecordIsRefused(String line) {
    RecordSchema schema = RecordSchema.builder().field("value", ElementType.I32).build();
    try (RecordStore store = RecordStore.create(directory.resolve("store"), schema, OPTIONS)) {
      RecordValues values = store.newValues();
      assertThat(catchThrowable(() -> new JsonLines(schema).read(line, values)))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"text\":\"a\\ud83d\"}", "{\"words\":[\"a\\udc00\"]}"})
  void halfASurrogatePairIsRefused(String line) {
    RecordSchema schema = RecordSchema.builder()
        .field("text", ElementType.UTF8)
        .field("words", ElementType.nested(NestedType.listOf(NestedType.of(ElementType.UTF8))))
        .build();
    try (RecordStore store = RecordStore.create(directory.resolve("store"), schema, OPTIONS)) {
      RecordValues values = store.newValues();
      assertThat(catchThrowable(() -> new JsonLines(schema).read(line, values)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("half of a surrogate pair");
    }
  }

  @Test
  void longArraysAreReadWhole() {
    RecordSchema schema = RecordSchema.builder()
        .field("value", ElementType.I64, Shape.of(-1), Compression.RAW)
        .build();
    StringBuilder line = new StringBuilder("{\"value\":[0");
    for (int i = 1; i < 5_000; i++) {
      line.append(',').append(i);
    }
    line.append("]}");
    try (RecordStore store = RecordStore.create(directory.resolve("store"), schema, OPTIONS)) {
      RecordValues values = store.newValues();
      new JsonLines(schema).read(line.toString(), values);
      store.append(values);
      store.commit();
      try (Batch batch = store.gather(new long[] {0})) {
        assertThat(batch.lengthBytes("value", 0)).isEqualTo(40_000);
        assertThat(batch.value("value", 0).getLong(8 * 4_999)).isEqualTo(4_999);
      }
    }
  }
}
