package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Rules of fields are for tables only. */
final class FieldRulesOfStoresTest {
  private static final FieldSpec SCORE =
      new FieldSpec(1, "score", ElementType.F32, Shape.scalar(), Compression.RAW);

  @TempDir
  Path directory;

  @Test
  void aStoreHasNoRulesOfFields() {
    Path store = directory.resolve("store");
    RecordSchema schema =
        new RecordSchema(List.of(SCORE.withRules(FieldRules.NONE.withNullable(false))));
    assertThatThrownBy(() -> RecordStore.create(store, schema, StoreOptions.defaults()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'score'");
    assertThat(store).doesNotExist();
  }
}
