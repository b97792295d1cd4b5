package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Values of one store given to another, by every way to write. */
final class ForeignValuesTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("score", ElementType.I64)
      .field("item", ElementType.I64)
      .build();

  /** Other fields, and what the message says of them. */
  private static final Map<String, RecordSchema> OTHERS = Map.of(
      "field 1 is 'item' of type i64 instead of 'score' of type i64",
      RecordSchema.builder()
          .field("item", ElementType.I64)
          .field("score", ElementType.I64)
          .build(),
      "field 2 is 'item' of type utf8 instead of 'item' of type i64",
      RecordSchema.builder()
          .field("score", ElementType.I64)
          .field("item", ElementType.UTF8)
          .build(),
      "field 2 is 'item' of type i64 and shape [1] instead of 'item' of type i64",
      RecordSchema.builder()
          .field("score", ElementType.I64)
          .field("item", ElementType.I64, Shape.of(1), Compression.of(Codec.RAW))
          .build(),
      "field 3 is 'more' of type i64 instead of missing",
      RecordSchema.builder()
          .field("score", ElementType.I64)
          .field("item", ElementType.I64)
          .field("more", ElementType.I64)
          .build(),
      "field 2 is missing instead of 'item' of type i64",
      RecordSchema.builder().field("score", ElementType.I64).build());

  @TempDir
  Path directory;

  /** A way to write values to a store that has a record. */
  private enum Way {
    APPEND((store, values) -> store.append(values)),
    APPEND_MANY((store, values) -> store.append(List.of(store.newValues(), values))),
    UPDATE((store, values) -> store.update(0, values));

    private final BiConsumer<RecordStore, RecordValues> write;

    Way(BiConsumer<RecordStore, RecordValues> write) {
      this.write = write;
    }
  }

  private RecordStore create(String name, RecordSchema schema) {
    return RecordStore.create(directory.resolve(name), schema, StoreOptions.defaults());
  }

  @ParameterizedTest
  @EnumSource
  void valuesOfOtherFieldsAreRefusedAndNothingIsWritten(Way way) {
    try (RecordStore store = create("store", SCHEMA)) {
      store.append(store.newValues().set("score", 1).set("item", 2));
      int number = 0;
      for (Map.Entry<String, RecordSchema> other : OTHERS.entrySet()) {
        try (RecordStore foreign = create("other-" + number++, other.getValue())) {
          RecordValues values = foreign.newValues().set("score", 3);
          assertThatThrownBy(() -> way.write.accept(store, values))
              .isInstanceOf(SchemaMismatchException.class)
              .hasMessageContaining(other.getKey())
              .hasMessageContaining("newValues()");
        }
      }
      store.commit();
      assertThat(store.length()).isEqualTo(1);
      try (Batch batch = store.gather(new long[] {0})) {
        assertThat(batch.value("score", 0).getLong()).isEqualTo(1);
        assertThat(batch.value("item", 0).getLong()).isEqualTo(2);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void valuesOfAnEqualStoreAreTaken(Way way) {
    RecordSchema equal = RecordSchema.builder()
        .field("score", ElementType.I64, Shape.scalar(), Compression.of(Codec.LZ4))
        .field("item", ElementType.I64)
        .build();
    try (RecordStore store = create("store", SCHEMA);
        RecordStore twin = create("twin", equal)) {
      store.append(store.newValues());
      for (int i = 0; i < 3; i++) {
        way.write.accept(store, twin.newValues().set("score", i).set("item", 4711));
      }
      store.commit();
      try (Batch batch = store.gather(new long[] {store.length() - 1})) {
        assertThat(batch.value("score", 0).getLong()).isEqualTo(2);
        assertThat(batch.value("item", 0).getLong()).isEqualTo(4711);
      }
    }
  }

  @Test
  void manyDifferencesAreCounted() {
    RecordSchema.Builder fields = RecordSchema.builder();
    for (int i = 0; i < 20; i++) {
      fields.field("f" + i, ElementType.I32);
    }
    try (RecordStore store = create("store", SCHEMA);
        RecordStore wide = create("wide", fields.build())) {
      assertThatThrownBy(() -> store.append(wide.newValues())).hasMessageContaining("and 15 more");
    }
  }
}
