package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.Compression;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.OrderField;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Several edits of fields and declarations are one version, which touches no shard. */
final class SchemaChangeTest {
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);
  private static final RecordSchema SCHEMA = new RecordSchema(List.of(
      new FieldSpec(1, "a", ElementType.I64, Shape.scalar(), Compression.RAW),
      new FieldSpec(2, "b", ElementType.I32, Shape.scalar(), Compression.RAW),
      new FieldSpec(3, "key", ElementType.I64, Shape.scalar(), Compression.RAW)
          .withRules(FieldRules.NONE.withNullable(false))));
  private static final Constraint CHECK = Constraint.check("positive", "a >= 0", List.of(1));
  private static final Constraint KEY = Constraint.primaryKey("pk", List.of(3));
  private static final OrderField BY_B =
      new OrderField(2, OrderField.Direction.ASCENDING, OrderField.Nulls.FIRST);

  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;

  /** Edits, the operation of their version, and its fields with their numbers, in order. */
  enum Edits {
    ADD_LAST(c -> c.add(field("x"), FieldPlace.last()), "addFields", "a1 b2 key3 x4"),
    ADD_FIRST(c -> c.add(field("x"), FieldPlace.first()), "addFields", "x4 a1 b2 key3"),
    ADD_AFTER(
        c -> c.add(field("x"), FieldPlace.after("a")).add(field("y"), FieldPlace.after("x")),
        "addFields",
        "a1 x4 y5 b2 key3"),
    ADD_AND_DECLARE(
        c -> c.add(field("x"), FieldPlace.last()).declare(d -> d.set("k", "v").comment("text")),
        "addFields",
        "a1 b2 key3 x4"),
    ADD_DROP_ADD(
        c -> c.add(field("x"), FieldPlace.last()).drop("x").add(field("x"), FieldPlace.first()),
        "addFields",
        "x5 a1 b2 key3"),
    MOVE_FIRST(c -> c.move("key", FieldPlace.first()), "schema", "key3 a1 b2"),
    MOVE_AFTER(c -> c.move("a", FieldPlace.after("b")), "schema", "b2 a1 key3"),
    MOVE_LAST(c -> c.move("a", FieldPlace.last()), "schema", "b2 key3 a1"),
    RENAME_AND_ADD(
        c -> c.declare(d -> d.drop("positive"))
            .rename("a", "old")
            .add(field("a"), FieldPlace.first()),
        "schema",
        "a4 old1 b2 key3"),
    SWAP(c -> c.rename("b", "t").rename("key", "b").rename("t", "key"), "schema", "a1 key2 b3"),
    DROP_AND_ADD(
        c -> c.declare(d -> d.writeOrder(List.of()))
            .drop("b")
            .add(field("b"), FieldPlace.after("a")),
        "schema",
        "a1 b4 key3"),
    DROP_WITH_CONSTRAINT(c -> c.declare(d -> d.drop("positive")).drop("a"), "schema", "b2 key3"),
    RENAME_OF_A_CHECK(
        c -> c.declare(d -> d.drop("positive"))
            .rename("a", "z")
            .declare(
                d -> d.add(Constraint.check("positive", "z >= 0", List.of(1)).notEnforced())),
        "schema",
        "z1 b2 key3"),
    PROMOTE(c -> c.promote("b", ElementType.I64), "schema", "a1 b2 key3"),
    REDEFINE(
        c -> c.redefine("b", field -> field.withRules(field.rules().withComment("text")))
            .move("b", FieldPlace.first()),
        "schema",
        "b2 a1 key3"),
    ADD_WITH_IDENTITY(
        c -> c.add(numbered(), FieldPlace.first())
            .declare(
                d -> d.add(Identity.byDefault(4, 1, 1)).add(Constraint.unique("u", List.of(4)))),
        "addFields",
        "id4 a1 b2 key3"),
    DECLARE(c -> c.declare(d -> d.set("k", "v")), "declare", "a1 b2 key3");

    private final Consumer<SchemaChange> edits;
    private final String operation;
    private final String fields;

    Edits(Consumer<SchemaChange> edits, String operation, String fields) {
      this.edits = edits;
      this.operation = operation;
      this.fields = fields;
    }
  }

  private static FieldSpec field(String name) {
    return new FieldSpec(1, name, ElementType.I64, Shape.scalar(), Compression.RAW)
        .withRules(FieldRules.NONE.withInitial(bytes(77)));
  }

  private static FieldSpec numbered() {
    return field("id").withRules(FieldRules.NONE.withInitial(bytes(0)).withNullable(false));
  }

  private static byte[] bytes(long value) {
    return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
  }

  @BeforeEach
  void create() {
    storage = LocalStorage.at(directory);
    table = RecordTable.at(storage);
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(storage, SCHEMA, OPTIONS)) {
      for (int shard = 0; shard < 2; shard++) {
        RecordAppender records = writer.newAppender();
        for (int i = 0; i < 5; i++) {
          records.set("a", i).set("b", 10 + i).set("key", 20L + i).endRecord();
        }
      }
      writer.commit();
    }
    DeclarationChange.of(table.latest())
        .add(CHECK.notEnforced())
        .add(KEY)
        .writeOrder(List.of(BY_B))
        .commit();
  }

  private SchemaChange change() {
    return SchemaChange.of(table.latest());
  }

  private static String fields(TableSnapshot version) {
    return String.join(
        " ",
        version.schema().fields().stream()
            .map(field -> field.name() + field.id())
            .toList());
  }

  private Map<String, String> files() {
    Map<String, String> files = new TreeMap<>();
    for (String under : List.of("shard", "list")) {
      if (Files.exists(directory.resolve(under))) {
        try (Stream<Path> paths = Files.walk(directory.resolve(under))) {
          for (Path path : paths.filter(Files::isRegularFile).toList()) {
            files.put(path.toString(), Arrays.toString(Files.readAllBytes(path)));
          }
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }
    return files;
  }

  /** Returns the values of each field of a version, by the number of the field. */
  private static Map<Integer, List<Long>> values(TableSnapshot version) {
    Map<Integer, List<Long>> values = new TreeMap<>();
    try (RecordDataset dataset =
        RecordDataset.open(version, RecordDataset.ReadOptions.defaults())) {
      for (FieldSpec field : version.schema().fields()) {
        FieldReader reader = dataset.reader(field.name());
        List<Long> read = new ArrayList<>();
        for (long i = 0; i < version.length(); i++) {
          reader.select(new long[] {i}, 0, 1);
          ByteBuffer value = ByteBuffer.wrap(reader.value(0)).order(ByteOrder.LITTLE_ENDIAN);
          read.add(value.remaining() == 4 ? value.getInt() : value.getLong());
        }
        values.put(field.id(), read);
      }
    }
    return values;
  }

  @ParameterizedTest
  @EnumSource(Edits.class)
  void editsAreOneVersionAndTouchNoShard(Edits edits) {
    TableSnapshot before = table.latest();
    Map<String, String> files = files();
    Map<Integer, List<Long>> values = values(before);
    SchemaChange change = change();
    edits.edits.accept(change);
    TableSnapshot after = change.note("why", "x").commit();
    assertThat(after.version()).isEqualTo(before.version() + 1);
    assertThat(after.operation()).isEqualTo(edits.operation);
    assertThat(fields(after)).isEqualTo(edits.fields);
    assertThat(after.schema()).isEqualTo(change.schema());
    assertThat(after.declarations()).isEqualTo(change.declarations());
    assertThat(after.properties()).containsEntry("why", "x");
    assertThat(files()).isEqualTo(files);
    assertThat(fields(table.version(before.version()))).isEqualTo("a1 b2 key3");
    assertThat(values(table.version(before.version()))).isEqualTo(values);
    values(after)
        .forEach((id, read) -> assertThat(read)
            .isEqualTo(values.getOrDefault(id, initials(after.schema().find(id).orElseThrow()))));
    assertThat(DatasetCheck.of(directory.toString())
            .allVersions()
            .run(finding -> {})
            .isSound())
        .isTrue();
  }

  private static List<Long> initials(FieldSpec field) {
    long initial = field.name().equals("id") ? 0 : 77;
    return Collections.nCopies(10, initial);
  }

  @Test
  void editsThatEndWhereTheyBeganPublishNothing() {
    TableSnapshot before = table.latest();
    assertThat(change()
            .rename("b", "c")
            .move("c", FieldPlace.first())
            .add(field("x"), FieldPlace.last())
            .drop("x")
            .rename("c", "b")
            .move("b", FieldPlace.after("a"))
            .declare(d -> d.set("k", "v").unset("k"))
            .commit()
            .version())
        .isEqualTo(before.version());
  }

  private void requireRefused(Consumer<SchemaChange> edit, String text) {
    SchemaChange change = change();
    RecordSchema fields = change.schema();
    assertThatThrownBy(() -> edit.accept(change))
        .isInstanceOfAny(SchemaMismatchException.class, IllegalArgumentException.class)
        .hasMessageContaining(text);
    assertThat(change.schema()).isEqualTo(fields);
  }

  @Test
  void anEditThatARuleForbidsIsRefusedAtOnce() {
    requireRefused(c -> c.drop("a"), "constraint 'positive' names it");
    requireRefused(c -> c.drop("b"), "the write order names it");
    requireRefused(c -> c.drop("none"), "There is no field 'none'");
    requireRefused(c -> c.rename("a", "z"), "constraint 'positive' reads field 'a'");
    requireRefused(c -> c.rename("b", "a"), "Field name 'a' appears twice");
    requireRefused(c -> c.promote("b", ElementType.F64), "cannot be read as f64");
    requireRefused(c -> c.move("a", FieldPlace.after("a")), "There is no field 'a'");
    requireRefused(c -> c.move("a", FieldPlace.after("x")), "There is no field 'x'");
    requireRefused(c -> c.add(field("x"), FieldPlace.after("y")), "There is no field 'y'");
    requireRefused(c -> c.add(field("a"), FieldPlace.last()), "Field name 'a' appears twice");
    requireRefused(
        c -> c.add(field("x").withRules(FieldRules.NONE.withNullable(false)), FieldPlace.last()),
        "no initial default");
    requireRefused(
        c -> c.redefine("b", field -> field.withRules(FieldRules.NONE.withNullable(false))),
        "nobody checked that none is");
    requireRefused(
        c -> c.declare(d -> d.add(Constraint.unique("u", List.of(9)))),
        "names the field with the number 9");
  }

  /** A check that is in the table again has the old name of the field in its text. */
  @Test
  void aCheckThatComesBackStillForbidsTheRename() {
    SchemaChange change = change()
        .declare(d -> d.drop("positive"))
        .rename("a", "z")
        .declare(d -> d.add(CHECK.notEnforced()));
    assertThatThrownBy(change::commit)
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("constraint 'positive' reads field 'a'");
  }

  @Test
  void aPartitionFieldStaysUnderEachName() {
    RecordTable other = RecordTable.at(LocalStorage.at(directory.resolve("partitioned")));
    other.commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA)
        .partitionedBy(List.of(1))
        .build());
    SchemaChange change = SchemaChange.of(other.latest()).rename("a", "z");
    assertThatThrownBy(() -> change.drop("z"))
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("the table is partitioned by it")
        .hasMessageContaining("CREATE OR REPLACE TABLE");
  }

  @Test
  void aChangeIsCommittedOnce() {
    SchemaChange change = change().move("a", FieldPlace.last());
    long version = change.commit().version();
    assertThat(change.commit().version()).isEqualTo(version);
    assertThatThrownBy(() -> change.drop("b")).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> change().declare(DeclarationChange::commit))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("part of a change of fields");
  }

  @Test
  void otherDeclarationsAreBothKept() {
    SchemaChange change = change()
        .add(field("x"), FieldPlace.first())
        .declare(d -> d.set("one", "1").drop("pk"));
    DeclarationChange.of(table.latest()).set("other", "2").comment("text").commit();
    Declarations after = change.commit().declarations();
    assertThat(after.properties()).containsOnlyKeys("one", "other");
    assertThat(after.comment()).isEqualTo("text");
    assertThat(after.constraints()).containsExactly(CHECK.notEnforced());
  }

  @Test
  void anEnforcedCheckDoesNotFollowNewRecords() {
    SchemaChange change = change()
        .add(field("x"), FieldPlace.last())
        .declare(d -> d.add(Constraint.check("c", "x > 0", List.of(4))));
    try (RecordDatasetWriter writer = RecordDatasetWriter.append(storage, SCHEMA, OPTIONS)) {
      writer.newAppender().set("a", 1L).set("b", 1).set("key", 1L).endRecord();
      writer.commit();
    }
    assertThatThrownBy(change::commit)
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("may have records for which the check is false");
  }

  @Test
  void whatAnotherDeclaresMeanwhileIsObeyed() {
    SchemaChange drop = change().declare(d -> d.drop("pk")).drop("key");
    SchemaChange rename = change().rename("b", "z");
    SchemaChange same = change().move("a", FieldPlace.last()).declare(d -> d.set("k", "1"));
    DeclarationChange.of(table.latest())
        .add(Constraint.unique("u", List.of(3)))
        .add(Constraint.check("b", "b > 0", List.of(2)).notEnforced())
        .set("k", "2")
        .commit();
    assertThatThrownBy(drop::commit)
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("constraint 'u' names the field with the number 3");
    assertThatThrownBy(rename::commit)
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("constraint 'b' reads field 'b'");
    assertThatThrownBy(same::commit)
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("table property 'k' was changed by another commit");
  }

  @Test
  void numbersThatWereReservedMeanwhileStayReserved() {
    DeclarationChange.of(table.latest()).add(Identity.byDefault(3, 1, 1)).commit();
    SchemaChange change = change().move("key", FieldPlace.first()).declare(d -> d.comment("text"));
    SchemaChange ending =
        change().declare(d -> d.dropIdentity("key").drop("pk")).drop("key");
    table.reserve(table.latest().declarations().identities().get(0), 10);
    change.commit();
    assertThat(table.latest().declarations().identities().get(0).next()).isEqualTo(11);
    assertThatThrownBy(ending::commit).isInstanceOf(CommitConflictException.class);
    change().declare(d -> d.dropIdentity("key").drop("pk")).drop("key").commit();
    assertThat(table.latest().declarations().identities()).isEmpty();
  }
}
