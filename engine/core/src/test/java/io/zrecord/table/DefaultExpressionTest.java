package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.testing.MemoryStorage;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Defaults that are no constants, and texts of those that are. */
final class DefaultExpressionTest {
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.I64).build();

  private final Storage storage = new MemoryStorage();
  private final RecordTable table = RecordTable.at(storage);

  @BeforeEach
  void create() {
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(storage, SCHEMA, OPTIONS)) {
      writer.newAppender().set("value", 1L).endRecord();
      writer.commit();
    }
  }

  private static FieldSpec when(FieldRules rules) {
    return new FieldSpec(1, "when", ElementType.I64, Shape.scalar(), Compression.RAW)
        .withRules(rules);
  }

  private void addExpression() {
    table.addFields(List.of(when(FieldRules.NONE.withDefaultSql("unix_micros(now())"))));
  }

  @Test
  void aWriterMustSetTheField() {
    addExpression();
    RecordSchema schema = table.latest().schema();
    try (RecordDatasetWriter writer = RecordDatasetWriter.append(storage, schema, OPTIONS)) {
      RecordAppender records = writer.newAppender();
      records.set("value", 2L);
      assertThatThrownBy(records::endRecord)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("Field 'when' of record 0")
          .hasMessageContaining("unix_micros(now())")
          .hasMessageContaining("set the field of each record");
      assertThatThrownBy(records::shard)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("Field 'when' has the default expression unix_micros(now())")
          .hasMessageContaining("requires a value of each record");
      records.set("when", 3L).endRecord();
      records.set("value", 2L).set("when", null).endRecord();
      writer.commit();
    }
    assertThat(table.latest().length()).isEqualTo(3);
  }

  @Test
  void aShardThatLeavesTheFieldOutIsRefused() {
    table.addFields(List.of(when(FieldRules.NONE)));
    TableChange planned = TableChange.of(TableChange.Kind.APPEND, SCHEMA)
        .base(table.latest())
        .shards(List.of(Shards.write(storage, SCHEMA, 2)))
        .build();
    table.redefineField(
        "when", field -> field.withRules(field.rules().withDefaultSql("unix_micros(now())")));
    assertThatThrownBy(() -> table.commit(planned))
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("leaves out field 'when'")
        .hasMessageContaining("write a value of the field");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void recordsThatWereWrittenBeforeTheFieldWasAddedHaveTheInitialValue(boolean isByMerge) {
    TableSnapshot base = table.latest();
    ShardSummary shard = Shards.write(storage, SCHEMA, 2);
    byte[] initial = {7, 0, 0, 0, 0, 0, 0, 0};
    table.addFields(
        List.of(when(FieldRules.NONE.withInitial(initial).withDefaultSql("unix_micros(now())"))));
    table.commit(
        TableChange.of(isByMerge ? TableChange.Kind.MERGE : TableChange.Kind.APPEND, SCHEMA)
            .base(base)
            .shards(List.of(shard))
            .build());
    try (RecordDataset dataset =
        RecordDataset.open(table.latest(), RecordDataset.ReadOptions.defaults())) {
      FieldReader when = dataset.reader("when");
      when.select(new long[] {0, 1}, 0, 2);
      assertThat(when.value(0)).isEqualTo(initial);
      assertThat(when.value(1)).isEqualTo(initial);
    }
    assertThatThrownBy(() -> table.commit(TableChange.of(TableChange.Kind.APPEND, SCHEMA)
            .base(table.latest())
            .shards(List.of(Shards.write(storage, SCHEMA, 3)))
            .build()))
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("leaves out field 'when'");
  }

  @Test
  void everyCommitKeepsTheText() {
    table.addFields(List.of(when(FieldRules.NONE.withWrite(new byte[8]).withDefaultSql("1 - 1"))));
    table.renameField("when", "then");
    table.tag(0, "first");
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(storage, table.latest().schema(), OPTIONS)) {
      writer.newAppender().set("value", 2L).endRecord();
      writer.commit();
    }
    FieldRules rules = table.latest().schema().find("then").orElseThrow().rules();
    assertThat(rules.defaultSql()).isEqualTo("1 - 1");
    assertThat(rules.hasDefaultExpression()).isFalse();
    assertThat(rules.withWrite(new byte[] {1, 0, 0, 0, 0, 0, 0, 0}).defaultSql())
        .isNull();
    assertThat(rules.withComment("text").defaultSql()).isEqualTo("1 - 1");
    assertThat(rules.withNullable(false).defaultSql()).isEqualTo("1 - 1");
  }

  @Test
  void aDefaultBecomesAConstant() {
    addExpression();
    table.redefineField("when", field -> field.withRules(field.rules().withWrite(new byte[8])));
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(storage, table.latest().schema(), OPTIONS)) {
      writer.newAppender().set("value", 2L).endRecord();
      writer.commit();
    }
    assertThat(table.latest().length()).isEqualTo(2);
  }

  @Test
  void aTextHasLimits() {
    for (String text : List.of("", "x".repeat((1 << 16) + 1), "\0")) {
      assertThatThrownBy(() -> FieldRules.NONE.withDefaultSql(text))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
