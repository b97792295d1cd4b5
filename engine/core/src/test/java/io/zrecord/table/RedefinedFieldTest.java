package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Shape;
import io.zrecord.storage.Storage;
import io.zrecord.testing.MemoryStorage;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Definitions of fields that records already have. */
final class RedefinedFieldTest {
  private final Storage storage = new MemoryStorage();
  private final RecordTable table = RecordTable.at(storage);

  /** Records of shards without the field would silently get another value. */
  @Test
  void anInitialDefaultIsFixedWhateverTheType() {
    table.commit(Shards.change(
        TableChange.Kind.CREATE,
        OptionalLong.empty(),
        Shards.SCHEMA,
        List.of(Shards.write(storage, Shards.SCHEMA, 1))));
    table.addFields(
        List.of(new FieldSpec(1, "text", ElementType.UTF8, Shape.scalar(), Compression.RAW)
            .withRules(FieldRules.NONE.withInitial(new byte[] {'a'}))));
    assertThatThrownBy(() -> table.redefineField(
            "text",
            field -> field
                .withType(ElementType.BYTES)
                .withRules(FieldRules.NONE.withInitial(new byte[] {'b'}))))
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("fixed");
    assertThatThrownBy(() -> table.redefineField(
            "text", field -> field.withType(ElementType.BYTES).withRules(FieldRules.NONE)))
        .isInstanceOf(SchemaMismatchException.class);
    FieldSpec promoted = table
        .redefineField("text", field -> field.withType(ElementType.BYTES))
        .schema()
        .fields()
        .get(1);
    assertThat(promoted.rules().initialHex()).isEqualTo("61");
  }
}
