package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.schema.Compression;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.IdentityRange;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a reservation does, which fields can have an identity, and what commits require of it. */
final class ReserveTest {
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);
  private static final FieldSpec ID = field(1, "id", ElementType.I64)
      .withRules(FieldRules.NONE.withNullable(false).withInitial(new byte[8]));
  private static final RecordSchema SCHEMA =
      new RecordSchema(List.of(ID, field(2, "other", ElementType.I64)));

  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;

  private static FieldSpec field(int id, String name, ElementType type) {
    return new FieldSpec(id, name, type, Shape.scalar(), Compression.RAW);
  }

  @BeforeEach
  void create() {
    storage = LocalStorage.at(directory);
    table = RecordTable.at(storage);
    table.commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA)
        .shards(List.of(Shards.write(storage, SCHEMA, -1, -2)))
        .build());
  }

  private DeclarationChange change() {
    return DeclarationChange.of(table.latest());
  }

  private Identity declare(Identity identity) {
    return change().add(identity).commit().declarations().identity(1).orElseThrow();
  }

  private static void requireRefused(Runnable change, String... texts) {
    assertThatThrownBy(change::run)
        .isInstanceOf(SchemaMismatchException.class)
        .satisfies(e -> assertThat(e.getMessage()).contains(texts));
  }

  private static void requireConflict(Runnable change, String text) {
    assertThatThrownBy(change::run)
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining(text);
  }

  private TableChangeBuilder append() {
    return TableChange.of(TableChange.Kind.APPEND, SCHEMA)
        .base(table.latest())
        .shards(List.of(Shards.write(storage, SCHEMA, 7)));
  }

  @Test
  void aReservationIsAVersionOfTheSameRecordsAndMovesTheNextNumberOnly() {
    Identity identity = declare(Identity.always(1, 5, 3));
    change().set("owner", "x").comment("text").commit();
    TableSnapshot before = table.latest();
    IdentityRange range = table.reserve(identity, 4);
    assertThat(range).isEqualTo(new IdentityRange(1, identity.sequence(), 5, 3, 4));
    TableSnapshot after = table.latest();
    assertThat(after.operation()).isEqualTo("reserve");
    assertThat(after.recordsVersion()).isZero();
    assertThat(after.shards()).isEqualTo(before.shards());
    assertThat(after.declarations())
        .isEqualTo(before.declarations().withIdentities(List.of(identity.reserved(4))));
    assertThat(table.reserve(identity, 1).first()).isEqualTo(17);
    assertThatThrownBy(() -> table.reserve(identity, 0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> table.reserve(identity, Long.MAX_VALUE))
        .isInstanceOf(ValueTooLargeException.class)
        .hasMessageContaining("field 'id'")
        .hasMessageContaining("goes on at 20 by steps of 3");
  }

  @Test
  void onlyASingleI64ThatIsNeverAbsentAndHasNoDefaultHasAnIdentity() {
    RecordSchema schema = new RecordSchema(List.of(
        ID,
        field(2, "nullable", ElementType.I64),
        field(3, "narrow", ElementType.I32).withRules(FieldRules.NONE.withNullable(false)),
        new FieldSpec(4, "many", ElementType.I64, Shape.of(2), Compression.RAW)
            .withRules(FieldRules.NONE.withNullable(false)),
        field(5, "written", ElementType.I64)
            .withRules(FieldRules.NONE.withNullable(false).withWrite(new byte[8])),
        field(6, "expression", ElementType.I64)
            .withRules(FieldRules.NONE.withNullable(false).withDefaultSql("now()"))));
    RecordTable fresh = RecordTable.at(LocalStorage.at(directory.resolve("fresh")));
    TableSnapshot base = fresh.commit(
        TableChange.of(TableChange.Kind.CREATE, schema).partitionedBy(List.of()).build());
    List<String> reasons = List.of(
        "its values may be absent",
        "it is i32, not a single i64",
        "it is i64[2], not a single i64",
        "it has a default for records",
        "it has a default for records");
    for (int i = 0; i < reasons.size(); i++) {
      Identity identity = Identity.always(i + 2, 1, 1);
      requireRefused(
          () -> DeclarationChange.of(base).add(identity),
          "field '" + schema.fields().get(i + 1).name() + "'",
          reasons.get(i));
      requireRefused(
          () -> fresh.commit(TableChange.of(TableChange.Kind.OVERWRITE, schema)
              .base(base)
              .declaring(Declarations.NONE.withIdentities(List.of(identity)))
              .build()),
          reasons.get(i));
    }
    requireRefused(() -> DeclarationChange.of(base).add(Identity.always(9, 1, 1)), "number 9");
    DeclarationChange.of(base).add(Identity.always(1, 1, 1)).commit();
  }

  @Test
  void aFieldKeepsWhatItsIdentityNeeds() {
    declare(Identity.always(1, 1, 1));
    requireRefused(() -> table.dropField("id"), "an identity names it");
    requireRefused(
        () -> table.redefineField("id", id -> id.withRules(id.rules().withNullable(true))),
        "field 'id' cannot have an identity: its values may be absent");
    requireRefused(
        () -> table.redefineField("id", id -> id.withRules(id.rules().withWrite(new byte[8]))),
        "it has a default for records that say nothing of it");
    table.renameField("id", "key");
    assertThat(
            table.reserve(table.latest().declarations().identities().get(0), 1).first())
        .isEqualTo(1);
    change().dropIdentity("key").commit();
    table.dropField("key");
  }

  @Test
  void shardsWithoutReservedNumbersAreRefused() {
    Identity identity = declare(Identity.always(1, 1, 1));
    requireRefused(() -> table.commit(append().build()), "field 'id' has an identity");
    requireRefused(
        () -> table.commit(append().assigned(List.of(Identity.always(1, 1, 1))).build()),
        "declared or renewed since");
    RecordSchema other = new RecordSchema(List.of(SCHEMA.fields().get(1)));
    ShardSummary without = Shards.write(storage, other, 7);
    requireRefused(
        () -> table.commit(TableChange.of(TableChange.Kind.APPEND, other)
            .base(table.latest())
            .shards(List.of(without))
            .assigned(List.of(identity))
            .build()),
        "leaves out field 'id'");
    table.reserve(identity, 10);
    // How far the series was when it was read does not matter.
    table.commit(append().assigned(List.of(identity)).build());
    assertThat(table.latest().length()).isEqualTo(3);
  }

  @Test
  void aMergeThatAddsShardsGivesNoOtherValuesOfTheField() throws IOException {
    Identity identity = declare(Identity.always(1, 1, 1));
    TableSnapshot base = table.latest();
    ShardSummary shard = base.shards().get(0);
    for (String field : List.of("id", "other")) {
      MergeChange merge = MergeChange.of(base)
          .adding(List.of(Shards.write(storage, SCHEMA, 7)))
          .assigned(List.of(identity));
      try (ShardChangeWriter writer =
          ShardChangeWriter.open(storage, ChangeBase.of(base), shard, Set.of(field))) {
        writer.values(field).put(0, new byte[] {9, 0, 0, 0, 0, 0, 0, 0}, 0, Long.BYTES);
        merge.change(writer.finish());
      }
      if (field.equals("id")) {
        requireRefused(merge::commit, "field 'id' is always generated");
      } else {
        merge.commit();
      }
    }
    assertThat(table.latest().length()).isEqualTo(3);
  }

  @Test
  void valuesThatWerePlannedBeforeTheIdentityAreRefused() {
    RowChange rows = RowChange.of(table.latest());
    rows.update(0, "id", 1L);
    try (RecordDatasetWriter writer = RecordDatasetWriter.append(storage, SCHEMA, OPTIONS);
        RecordFieldsWriter values = RecordFieldsWriter.rewrite(table, Set.of("id"), OPTIONS)) {
      writer.newAppender().set("id", 3L).endRecord();
      RecordAppender ofShard = values.newAppender(0);
      ofShard.set("id", 4L).endRecord();
      ofShard.set("id", 5L).endRecord();
      declare(Identity.always(1, 1, 1));
      requireRefused(writer::commit, "field 'id' has an identity");
      requireRefused(rows::commit, "field 'id' is always generated");
      requireRefused(values::commit, "field 'id' is always generated");
    }
    assertThat(table.latest().version()).isEqualTo(1);
  }

  @Test
  void anIdentityThatIsAddedDoesNotFollowNewRecords() {
    DeclarationChange added = change().add(Identity.always(1, 1, 1));
    table.commit(append().build());
    requireConflict(added::commit, "may have records with numbers of the identity");
  }

  @Test
  void aChangeOfAnIdentityFollowsReservationsAndNoOtherChangeOfIt() {
    Identity first = declare(Identity.always(1, 1, 1));
    DeclarationChange replaced = change().add(Identity.byDefault(1, 100, 1));
    DeclarationChange dropped = change().dropIdentity("id");
    DeclarationChange comment = change().comment("text");
    table.reserve(first, 10);
    comment.commit();
    assertThat(table.latest().declarations().identities()).containsExactly(first.reserved(10));
    replaced.commit();
    requireConflict(dropped::commit, "the identity of field 'id' was changed");
    requireConflict(() -> table.reserve(first, 1), "another identity of the field, or none");
    Identity second = table.latest().declarations().identities().get(0);
    table.reserve(second, 5);
    long version = table.latest().version();
    // After an unknown outcome the caller may commit once more.
    assertThat(replaced.commit().version()).isEqualTo(version);
    assertThat(table.latest().declarations().identities()).containsExactly(second.reserved(5));
  }

  @Test
  void anOverwriteThatDeclaresWhatItHasReadTakesNoNumberBack() {
    Identity identity = declare(Identity.always(1, 1, 1));
    TableSnapshot base = table.latest();
    table.reserve(identity, 10);
    table.commit(TableChange.of(TableChange.Kind.OVERWRITE, SCHEMA)
        .base(base)
        .declaring(base.declarations().withComment("text"))
        .build());
    assertThat(table.latest().declarations())
        .isEqualTo(
            Declarations.NONE.withComment("text").withIdentities(List.of(identity.reserved(10))));
    requireRefused(
        () -> table.commit(TableChange.of(TableChange.Kind.OVERWRITE, SCHEMA)
            .base(table.latest())
            .partitionedBy(List.of(1))
            .build()),
        "field 'id' cannot have an identity: the table is partitioned by it");
  }

  /** The version that is given up has reserved numbers, which are reserved again. */
  @Test
  void numbersOfAVersionThatARepairGaveUpAreNotCommitted() throws IOException {
    Identity identity = declare(Identity.always(1, 1, 1));
    TableSnapshot base = table.latest();
    IdentityRange lost = table.reserve(identity, 10);
    Files.write(directory.resolve(ManifestNames.nameOf(table.latest().version())), new byte[] {1});
    DatasetRepair.of(storage).restoringPrevious().run(finding -> {}, plan -> true);
    Identity renewed = table.latest().declarations().identities().get(0);
    assertThat(table.reserve(renewed, 10).first()).isEqualTo(lost.first());
    requireRefused(
        () -> table.commit(TableChange.of(TableChange.Kind.APPEND, SCHEMA)
            .base(base)
            .shards(List.of(Shards.write(storage, SCHEMA, lost.first())))
            .assigned(List.of(identity))
            .build()),
        "declared or renewed since");
    requireConflict(() -> table.reserve(identity, 1), "another identity of the field, or none");
    table.commit(append().assigned(List.of(renewed)).build());
  }
}
