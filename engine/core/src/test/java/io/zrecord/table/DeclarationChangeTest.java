package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDatasetWriter;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.OrderField;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.TableChange.Isolation;
import io.zrecord.testing.MemoryStorage;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a change of declarations does, beside other commits, and what declarations refuse. */
final class DeclarationChangeTest {
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("value", ElementType.I64)
      .field("other", ElementType.I64)
      .build();
  private static final Constraint POSITIVE = Constraint.check("positive", "value >= 0", List.of(1));

  private final Storage storage = new MemoryStorage();
  private final RecordTable table = RecordTable.at(storage);

  @BeforeEach
  void create() {
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(storage, SCHEMA, OPTIONS)) {
      writer.newAppender().set("value", 1L).set("other", 2L).endRecord();
      writer.commit();
    }
  }

  private DeclarationChange change() {
    return DeclarationChange.of(table.latest());
  }

  private void append() {
    try (RecordDatasetWriter writer = RecordDatasetWriter.append(storage, SCHEMA, OPTIONS)) {
      writer.newAppender().set("value", -1L).set("other", 2L).endRecord();
      writer.commit();
    }
  }

  private static void requireConflict(Runnable change, String text) {
    assertThatThrownBy(change::run)
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining(text);
  }

  private static void requireRefused(Runnable change, String... texts) {
    assertThatThrownBy(change::run)
        .isInstanceOf(SchemaMismatchException.class)
        .satisfies(e -> assertThat(e.getMessage()).contains(texts));
  }

  @Test
  void oneCommitSetsAndUnsetsMany() {
    change().set("a", "1").set("b", "2").comment("text").commit();
    TableSnapshot after =
        change().unset("a").set("b", "3").unset("none").note("why", "x").commit();
    assertThat(after.declarations().properties()).containsOnly(java.util.Map.entry("b", "3"));
    assertThat(after.declarations().comment()).isEqualTo("text");
    assertThat(after.properties()).containsEntry("why", "x");
    assertThat(after.operation()).isEqualTo("declare");
    assertThat(after.recordsVersion()).isZero();
    assertThat(change().comment("text").commit().version()).isEqualTo(after.version());
  }

  @Test
  void changesOfDifferentKeysAreBothKept() {
    change().set("gone", "1").commit();
    DeclarationChange first = change().set("a", "1").unset("gone");
    DeclarationChange second = change().set("b", "2").add(POSITIVE.notEnforced());
    DeclarationChange third = change().comment("text");
    first.commit();
    second.commit();
    third.commit();
    assertThat(table.latest().declarations().properties()).containsOnlyKeys("a", "b");
    assertThat(table.latest().declarations().comment()).isEqualTo("text");
    assertThat(table.latest().declarations().constraints()).hasSize(1);
  }

  @Test
  void changesOfOneKeyConflictUnlessTheyAreTheSame() {
    List<UnaryOperator<DeclarationChange>> ones = List.of(
        one -> one.set("a", "1"),
        one -> one.comment("one"),
        one -> one.add(POSITIVE.notEnforced()),
        one -> one.writeOrder(
            List.of(new OrderField(1, OrderField.Direction.ASCENDING, OrderField.Nulls.FIRST))));
    List<UnaryOperator<DeclarationChange>> others = List.of(
        other -> other.set("a", "2"),
        other -> other.comment("other"),
        other -> other.add(Constraint.unique("positive", List.of(1))),
        other -> other.writeOrder(
            List.of(new OrderField(2, OrderField.Direction.ASCENDING, OrderField.Nulls.FIRST))));
    for (int i = 0; i < ones.size(); i++) {
      DeclarationChange first = ones.get(i).apply(change());
      DeclarationChange same = ones.get(i).apply(change());
      DeclarationChange other = others.get(i).apply(change());
      long version = first.commit().version();
      assertThat(same.commit().version()).isEqualTo(version);
      requireConflict(other::commit, "was changed by another commit");
    }
  }

  @Test
  void anOverwriteFollowsAChangeOfDeclarations() {
    TableSnapshot base = table.latest();
    change().comment("text").commit();
    table.commit(
        TableChange.of(TableChange.Kind.OVERWRITE, base.schema()).base(base).build());
    assertThat(table.latest().declarations().comment()).isEqualTo("text");
    assertThat(table.latest().length()).isZero();
  }

  @Test
  void anEnforcedCheckDoesNotFollowNewRecords() {
    DeclarationChange check = change().add(POSITIVE);
    DeclarationChange informative = change().add(POSITIVE.notEnforced());
    append();
    requireConflict(check::commit, "may have records for which the check is false");
    informative.commit();
    assertThat(table.latest().declarations().enforced()).isEmpty();
  }

  @Test
  void aChangeThatWasPlannedBeforeACheckIsRefused() {
    RecordDatasetWriter writer = RecordDatasetWriter.append(storage, SCHEMA, OPTIONS);
    try (writer) {
      writer.newAppender().set("value", -1L).set("other", 2L).endRecord();
      change().add(POSITIVE).commit();
      requireRefused(writer::commit, "constraint 'positive' CHECK (value >= 0)");
    }
    assertThat(table.latest().length()).isEqualTo(1);
  }

  @Test
  void writersThatDoNotEvaluateAnEnforcedCheckAreRefused() {
    change().add(POSITIVE).commit();
    TableSnapshot base = table.latest();
    List<Runnable> writers = List.of(
        this::append,
        () -> RecordDatasetWriter.overwrite(storage, SCHEMA, OPTIONS),
        () -> {
          RowChange rows = RowChange.of(base);
          rows.update(0, "value", -3L);
          rows.commit();
        },
        () -> table.commit(TableChange.of(TableChange.Kind.APPEND, SCHEMA)
            .base(base)
            .shards(base.shards())
            .evaluated(List.of(Constraint.check("positive", "value > 0", List.of(1))))
            .build()),
        () -> {
          try (RecordFieldsWriter values =
              RecordFieldsWriter.rewrite(table, Set.of("value"), OPTIONS)) {
            values.newAppender(0).set("value", -3L).endRecord();
            values.finish(0);
            values.commit();
          }
        });
    for (Runnable writer : writers) {
      requireRefused(writer, "constraint 'positive'", "or drop the constraint");
    }
    assertThat(table.latest().version()).isEqualTo(base.version());

    RowChange rows = RowChange.of(base);
    rows.update(0, "other", -3L);
    rows.commit();
    table.commit(TableChange.of(TableChange.Kind.APPEND, SCHEMA)
        .base(table.latest())
        .shards(base.shards())
        .evaluated(List.of(POSITIVE))
        .build());
    assertThat(table.latest().length()).isEqualTo(2);
    change().drop("positive").commit();
    append();
    assertThat(table.latest().length()).isEqualTo(3);
  }

  @Test
  void aFieldThatADeclarationNamesIsNotDropped() {
    change()
        .writeOrder(
            List.of(new OrderField(2, OrderField.Direction.ASCENDING, OrderField.Nulls.FIRST)))
        .add(Constraint.primaryKey("pk", List.of(1)))
        .commit();
    requireRefused(() -> table.dropField("value"), "constraint 'pk' names it");
    requireRefused(() -> table.dropField("other"), "the write order names it");
    RecordSchema less = RecordSchema.builder().field("value", ElementType.I64).build();
    requireRefused(
        () -> {
          try (RecordDatasetWriter writer = RecordDatasetWriter.overwrite(storage, less, OPTIONS)) {
            writer.commit();
          }
        },
        "the write order names the field with the number 2");
    table.renameField("value", "id");
    change().writeOrder(List.of()).drop("pk").commit();
    table.dropField("other");
    assertThat(table.latest().schema().fields()).hasSize(1);
  }

  @Test
  void aFieldThatACheckReadsKeepsItsNameAndType() {
    change().add(POSITIVE.notEnforced()).commit();
    requireRefused(() -> table.renameField("value", "v"), "constraint 'positive'");
    table.renameField("other", "o");
    assertThat(table.latest().schema().find("o")).isPresent();
  }

  @Test
  void aDropAndADeclarationThatNamesTheFieldConflict() {
    DeclarationChange order = change()
        .writeOrder(
            List.of(new OrderField(2, OrderField.Direction.ASCENDING, OrderField.Nulls.FIRST)));
    table.dropField("other");
    requireConflict(order::commit, "names the field with the number 2");

    SchemaChange rename = SchemaChange.of(table.latest()).rename("value", "v");
    change().add(POSITIVE.notEnforced()).commit();
    requireRefused(rename::commit, "constraint 'positive'");
  }

  @Test
  void aCheckDoesNotFollowAnotherNameOrTypeOfAFieldThatItReads() {
    DeclarationChange check = change().add(POSITIVE.notEnforced());
    DeclarationChange key = change().add(Constraint.primaryKey("key", List.of(1)));
    table.renameField("value", "v");
    requireConflict(check::commit, "reads field 'value' by its name and type");
    key.commit();
    assertThat(table.latest().declarations().constraints()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"zrecord.isolation", "zrecord.other", "zrecord."})
  void reservedNamesAreKnown(String key) {
    requireRefused(
        () -> change().set(key, "none"),
        key,
        key.equals("zrecord.isolation") ? "serializable, snapshot" : "are reserved");
    change().unset(key).commit();
  }

  /** Deletes the first record, by each way to do it. */
  private List<Runnable> changes(TableSnapshot base, Isolation isolation) {
    MergeChange merge = MergeChange.of(base).removing(base.shards().get(0)).isolation(isolation);
    TableChange change = TableChange.of(TableChange.Kind.MERGE, SCHEMA)
        .base(base)
        .replacements(List.of(TableChange.Replacement.ofRows(base.shards().get(0), List.of())))
        .isolation(isolation)
        .build();
    return List.of(merge::commit, () -> table.commit(change));
  }

  @Test
  void aChangeThatDependsOnOtherRecordsHasTheIsolationOfTheTable() {
    for (int i = 0; i < 2; i++) {
      for (String declared : List.of("", "serializable", "snapshot")) {
        DeclarationChange property = change();
        if (declared.isEmpty()) {
          property.unset(DeclarationChange.ISOLATION).commit();
        } else {
          property.set(DeclarationChange.ISOLATION, declared).commit();
        }
        append();
        Runnable change = changes(table.latest(), table.latest().isolation()).get(i);
        append();
        if (declared.equals("snapshot")) {
          change.run();
        } else {
          requireConflict(change, "what it depends on may be another now");
        }
      }
    }
  }

  @Test
  void aChangeOfNamedRecordsFollowsAnAppendWhateverTheTableSays() {
    change().set(DeclarationChange.ISOLATION, "serializable").commit();
    append();
    RowChange rows = RowChange.of(table.latest());
    rows.delete(0);
    append();
    rows.commit();
  }

  @Test
  void namesAndSizesHaveLimits() {
    List<Runnable> refused = List.of(
        () -> change().set("", "x"),
        () -> change().set("k".repeat(1025), "x"),
        () -> change().set("k", "v".repeat((1 << 16) + 1)),
        () -> change().set("k", "\0"),
        () -> change().set("k", "\ud800"),
        () -> change().comment("c".repeat((1 << 16) + 1)),
        () -> change().add(Constraint.unique("u", List.of())),
        () -> change().add(Constraint.unique("n".repeat(256), List.of(1))),
        () -> change().add(POSITIVE).add(POSITIVE),
        () -> change().drop("none"),
        () -> {
          DeclarationChange many = change();
          for (int i = 0; i < 17; i++) {
            many.set("k" + i, "v".repeat(1 << 16));
          }
        },
        () -> {
          DeclarationChange many = change();
          for (int i = 0; i < 1001; i++) {
            many.set("k" + i, "v");
          }
        });
    for (Runnable change : refused) {
      assertThatThrownBy(change::run).isInstanceOf(IllegalArgumentException.class);
    }
    requireRefused(() -> change().add(Constraint.unique("u", List.of(7))), "number 7");
    assertThatThrownBy(() -> table.commit(TableChange.of(TableChange.Kind.OVERWRITE, SCHEMA)
            .base(table.latest())
            .declaring(
                table.latest().declarations().withProperties(java.util.Map.of("zrecord.x", "y")))
            .build()))
        .isInstanceOf(ZRecordException.class)
        .hasMessageContaining("zrecord.x");
  }
}
