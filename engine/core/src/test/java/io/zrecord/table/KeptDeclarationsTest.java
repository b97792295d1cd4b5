package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.Batch;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.rebalance.TableRelayout;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.repair.DatasetRepair;
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
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every way to commit keeps all that a table declares. */
final class KeptDeclarationsTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);
  private static final RecordSchema SCHEMA = new RecordSchema(List.of(
      new FieldSpec(1, "key", ElementType.I64, Shape.scalar(), Compression.RAW)
          .withRules(FieldRules.NONE.withNullable(false)),
      new FieldSpec(2, "value", ElementType.I32, Shape.scalar(), Compression.RAW),
      new FieldSpec(3, "other", ElementType.I32, Shape.scalar(), Compression.RAW)));

  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;

  /** What a table declares, one thing at a time. */
  enum What {
    COMMENT(change -> change.comment("what the table is for")),
    PROPERTY(change -> change.set("owner", "the team")),
    ISOLATION(change -> change.set(DeclarationChange.ISOLATION, "snapshot")),
    WRITE_ORDER(change -> change.writeOrder(List.of(
        new OrderField(2, OrderField.Direction.DESCENDING, OrderField.Nulls.FIRST),
        new OrderField(1, OrderField.Direction.ASCENDING, OrderField.Nulls.LAST)))),
    CHECK(change ->
        change.add(Constraint.check("positive", "value >= 0", List.of(2)).notEnforced())),
    ENFORCED_CHECK(change -> change.add(POSITIVE)),
    PRIMARY_KEY(change -> change.add(Constraint.primaryKey("pk", List.of(1)))),
    UNIQUE(change -> change.add(Constraint.unique("uq", List.of(1, 2)))),
    FOREIGN_KEY(change -> change.add(Constraint.foreignKey(
        "fk", List.of(1), new Constraint.Reference("db.other", List.of("id"))))),
    IDENTITY(change -> change.add(Identity.byDefault(1, -5, -1)));

    private final UnaryOperator<DeclarationChange> declaring;

    What(UnaryOperator<DeclarationChange> declaring) {
      this.declaring = declaring;
    }
  }

  private static final Constraint POSITIVE = Constraint.check("positive", "value >= 0", List.of(2));

  /** A way to commit. */
  enum Way {
    APPEND,
    APPEND_BY_WRITER,
    OVERWRITE,
    OVERWRITE_BY_WRITER,
    REBALANCE,
    RELAYOUT,
    DELETE,
    UPDATE,
    MERGE,
    ADD_FIELD,
    ADD_VALUES,
    REWRITE_FIELD,
    RENAME_FIELD,
    PROMOTE_FIELD,
    DROP_FIELD,
    TAG,
    UNTAG,
    EXPIRE,
    SWEEP,
    RESTORE,
    DECLARE,
    MOVE_FIELD_AND_DECLARE
  }

  static Stream<Arguments> all() {
    return EnumSet.allOf(What.class).stream()
        .flatMap(what -> EnumSet.allOf(Way.class).stream().map(way -> Arguments.of(what, way)));
  }

  private void create(What what) {
    storage = LocalStorage.at(directory.resolve("table"));
    table = RecordTable.at(storage);
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(storage, SCHEMA, OPTIONS)) {
      for (int shard = 0; shard < 2; shard++) {
        RecordAppender records = writer.newAppender();
        for (int i = 0; i < 5; i++) {
          records.set("key", 10L * shard + i).set("value", i).set("other", i).endRecord();
        }
      }
      writer.commit();
    }
    what.declaring.apply(DeclarationChange.of(table.latest())).commit();
    for (Identity identity : table.latest().declarations().identities()) {
      table.reserve(identity, 3);
    }
  }

  @ParameterizedTest
  @MethodSource("all")
  void everyCommitKeepsEveryDeclaration(What what, Way way) {
    create(what);
    long before = table.latest().version();
    Declarations declared = table.latest().declarations();
    assertThat(declared).isNotEqualTo(Declarations.NONE);
    commit(way);
    TableSnapshot after = table.latest();
    assertThat(after.version()).isGreaterThan(before);
    assertThat(
            way == Way.DECLARE || way == Way.MOVE_FIELD_AND_DECLARE
                ? after.declarations().withComment(declared.comment())
                : way == Way.RESTORE ? renewed(after, declared) : after.declarations())
        .isEqualTo(declared);
    assertThat(DatasetCheck.of(directory.resolve("table").toString())
            .allVersions()
            .run(finding -> {})
            .isSound())
        .isTrue();
  }

  /** A repair begins a new series of each identity, which goes on where the other was. */
  private static Declarations renewed(TableSnapshot after, Declarations declared) {
    return after
        .declarations()
        .withIdentities(declared.identities().stream()
            .map(before -> {
              Identity now = after.declarations().identity(before.fieldId()).orElseThrow();
              assertThat(now.sequence()).isNotEqualTo(before.sequence());
              return new Identity(
                  now.fieldId(),
                  before.sequence(),
                  now.generation(),
                  now.start(),
                  now.step(),
                  now.next());
            })
            .toList());
  }

  private void commit(Way way) {
    TableSnapshot base = table.latest();
    List<Identity> assigned = base.declarations().identities();
    List<Constraint> evaluated = base.declarations().enforced();
    switch (way) {
      case APPEND ->
        table.commit(TableChange.of(TableChange.Kind.APPEND, base.schema())
            .base(base)
            .shards(List.of(base.shards().get(0)))
            .evaluated(evaluated)
            .assigned(assigned)
            .build());
      case APPEND_BY_WRITER ->
        write(RecordDatasetWriter.append(storage, SCHEMA, OPTIONS, evaluated));
      case OVERWRITE_BY_WRITER ->
        write(RecordDatasetWriter.overwrite(storage, SCHEMA, OPTIONS, evaluated));
      case OVERWRITE ->
        table.commit(TableChange.of(TableChange.Kind.OVERWRITE, base.schema())
            .base(base)
            .shards(List.of(base.shards().get(0)))
            .evaluated(evaluated)
            .assigned(assigned)
            .build());
      case REBALANCE ->
        TableRebalance.of(RebalancePlan.of(
                base, RebalanceOptions.defaults().withWrite(OPTIONS).withAllShards()))
            .threads(1)
            .run();
      case RELAYOUT ->
        TableRelayout.of(base, RecordOrder.shuffle(1))
            .layout(OPTIONS, 1 << 20)
            .threads(1)
            .run();
      case DELETE -> {
        RowChange change = RowChange.of(base);
        change.delete(3);
        change.commit();
      }
      case UPDATE -> {
        RowChange change = RowChange.of(base);
        change.update(3, "other", 7);
        change.commit();
      }
      case MERGE ->
        table.commit(TableChange.of(TableChange.Kind.MERGE, base.schema())
            .base(base)
            .replacements(List.of(TableChange.Replacement.ofRows(base.shards().get(0), List.of())))
            .shards(List.of(base.shards().get(1)))
            .evaluated(evaluated)
            .assigned(assigned)
            .build());
      case ADD_FIELD -> table.addFields(List.of(added()));
      case ADD_VALUES -> values(RecordFieldsWriter.add(table, List.of(added()), OPTIONS), "added");
      case REWRITE_FIELD ->
        values(RecordFieldsWriter.rewrite(table, Set.of("other"), OPTIONS), "other");
      case RENAME_FIELD -> table.renameField("key", "id");
      case PROMOTE_FIELD -> table.promoteField("other", ElementType.I64);
      case DROP_FIELD -> table.dropField("other");
      case TAG -> table.tag(0, "first");
      case UNTAG -> {
        table.tag(0, "first");
        table.untag("first");
      }
      case EXPIRE -> {
        for (long version = 0; version <= base.version(); version++) {
          age(version);
        }
        table.tag(base.version(), "kept");
        age(base.version() + 1);
        table.expire(ExpireOptions.defaults().withKeepVersions(1));
      }
      case SWEEP -> {
        orphan();
        table.sweep(SweepOptions.defaults().withMode(CareMode.DELETE), orphan -> {});
      }
      case RESTORE -> {
        table.renameField("key", "id");
        spoil(base.version() + 1);
        DatasetRepair.of(storage).restoringPrevious().run(finding -> {}, plan -> true);
        table.tag(base.version(), "first");
      }
      case DECLARE -> DeclarationChange.of(base).comment("another").commit();
      case MOVE_FIELD_AND_DECLARE ->
        SchemaChange.of(base)
            .move("other", FieldPlace.first())
            .declare(declarations -> declarations.comment("another"))
            .commit();
    }
  }

  private static void write(RecordDatasetWriter writer) {
    try (writer) {
      writer.newAppender().set("key", 100).set("value", 1).set("other", 2).endRecord();
      writer.commit();
    }
  }

  private static FieldSpec added() {
    return new FieldSpec(1, "added", ElementType.I32, Shape.scalar(), Compression.RAW);
  }

  private static void values(RecordFieldsWriter writer, String field) {
    try (writer) {
      RecordAppender appender = writer.newAppender(0);
      for (int i = 0; i < 5; i++) {
        appender.set(field, i).endRecord();
      }
      writer.finish(0);
      writer.commit();
    }
  }

  private Path manifest(long version) {
    return directory.resolve("table").resolve(ManifestNames.nameOf(version));
  }

  private void edit(long version, Consumer<ObjectNode> change) {
    try {
      ObjectNode json = (ObjectNode) MAPPER.readTree(Files.readAllBytes(manifest(version)));
      json.remove("crc32c");
      change.accept(json);
      Files.write(manifest(version), SealedJson.seal(json));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void orphan() {
    Path file = directory.resolve("table/list/11111111-1111-4111-8111-111111111111.json");
    try {
      Files.createDirectories(file.getParent());
      Files.write(file, new byte[10]);
      Files.setLastModifiedTime(file, FileTime.fromMillis(0));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void age(long version) {
    edit(version, json -> json.put("timestampMillis", 1 + version));
  }

  private void spoil(long version) {
    try {
      Files.write(manifest(version), new byte[] {1});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void everyCommitKeepsWhatALaterReleaseDeclares(Way way) {
    create(What.PRIMARY_KEY);
    edit(1, json -> {
      ObjectNode declarations = (ObjectNode) json.get("declarations");
      declarations.put("later", 1.5);
      ((ObjectNode) declarations.get("constraints").get(0)).put("rely", true);
    });
    commit(way);
    try {
      var declarations = MAPPER
          .readTree(Files.readAllBytes(manifest(table.latest().version())))
          .get("declarations");
      assertThat(declarations.get("later").doubleValue()).isEqualTo(1.5);
      assertThat(declarations.get("constraints").get(0).get("rely").booleanValue())
          .isTrue();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void everyCommitKeepsWhatALaterReleaseSaysOfAnIdentity(Way way) {
    create(What.IDENTITY);
    edit(
        2,
        json -> ((ObjectNode) json.get("declarations").get("identities").get(0)).put("later", 1.5));
    commit(way);
    requireLaterMember();
  }

  @Test
  void anIdentityOfAFieldThatIsNotKnownIsReadAndReservesNothing() {
    create(What.IDENTITY);
    Identity identity = table.latest().declarations().identities().get(0);
    edit(2, json -> ((ObjectNode) json.get("fields").get(0)).put("dtype", "later"));
    assertThat(table.latest().declarations().identities()).containsExactly(identity);
    assertThatThrownBy(() -> table.reserve(identity, 1))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining("'dtype later'");
  }

  @Test
  void aReservationKeepsAllElseThatIsDeclared() {
    create(What.IDENTITY);
    DeclarationChange change = DeclarationChange.of(table.latest());
    for (What what : EnumSet.range(What.COMMENT, What.FOREIGN_KEY)) {
      if (what != What.CHECK) {
        change = what.declaring.apply(change);
      }
    }
    change.commit();
    edit(
        3,
        json -> ((ObjectNode) json.get("declarations").get("identities").get(0)).put("later", 1.5));
    Declarations before = table.latest().declarations();
    Identity identity = before.identities().get(0);
    table.reserve(identity, 5);
    assertThat(table.latest().declarations())
        .isEqualTo(before.withIdentities(List.of(identity.reserved(5))));
    requireLaterMember();
  }

  private void requireLaterMember() {
    try {
      var identities = MAPPER
          .readTree(Files.readAllBytes(manifest(table.latest().version())))
          .get("declarations")
          .get("identities");
      assertThat(identities.get(0).get("later").doubleValue()).isEqualTo(1.5);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aTableWithDeclarationsOfALaterReleaseIsReadAndNotChanged() {
    create(What.PRIMARY_KEY);
    edit(
        1,
        json -> ((ObjectNode) json.get("declarations").get("constraints").get(0))
            .put("kind", "exclude"));
    requireReadAndNotChanged("'constraint exclude'");
    edit(
        1,
        json -> json.putObject("declarations")
            .putArray("writeOrder")
            .addObject()
            .put("field", 1)
            .put("direction", "random")
            .put("nulls", "first"));
    requireReadAndNotChanged("'direction random'");
  }

  private void requireReadAndNotChanged(String feature) {
    assertThat(table.latest().declarations()).isEqualTo(Declarations.NONE);
    assertThat(table.latest().length()).isEqualTo(10);
    for (Way way : List.of(Way.APPEND, Way.DROP_FIELD, Way.TAG, Way.DECLARE, Way.SWEEP)) {
      assertThatThrownBy(() -> commit(way))
          .isInstanceOf(UnsupportedFormatException.class)
          .hasMessageContaining(feature);
    }
    assertThat(table.latest().version()).isEqualTo(1);
  }

  @Test
  void aWriterThatEvaluatesOtherChecksIsRefusedAtOnce() {
    create(What.ENFORCED_CHECK);
    List<Constraint> other = List.of(Constraint.check("positive", "value > 0", List.of(2)));
    assertThatThrownBy(() -> RecordDatasetWriter.append(storage, SCHEMA, OPTIONS, other))
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("'positive'");
    assertThatThrownBy(() -> RecordDatasetWriter.overwrite(storage, SCHEMA, OPTIONS, other))
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("'positive'");
  }

  @Test
  void aWriterWhoseChecksChangeBeforeItsCommitIsRefused() {
    create(What.ENFORCED_CHECK);
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(storage, SCHEMA, OPTIONS, List.of(POSITIVE))) {
      writer.newAppender().set("key", 100).set("value", 1).set("other", 2).endRecord();
      DeclarationChange.of(table.latest())
          .add(Constraint.check("small", "other < 100", List.of(3)))
          .commit();
      assertThatThrownBy(writer::commit)
          .isInstanceOf(SchemaMismatchException.class)
          .hasMessageContaining("'small'");
    }
    assertThat(table.latest().length()).isEqualTo(10);
  }

  @Test
  void aTableThatAWriterCreatesDeclaresWhatTheWriterSaysAndNumbersItsRecords() {
    storage = LocalStorage.at(directory.resolve("table"));
    table = RecordTable.at(storage);
    Identity identity = Identity.always(1, 10, 5);
    Declarations declared = Declarations.NONE
        .withComment("numbered")
        .withConstraints(List.of(POSITIVE))
        .withIdentities(List.of(identity));
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(storage, SCHEMA, OPTIONS, declared)) {
      for (int shard = 0; shard < 2; shard++) {
        RecordAppender records = writer.newAppender();
        for (int i = 0; i < 2000; i++) {
          records.set("value", i).set("other", i).endRecord();
        }
        assertThatThrownBy(() -> records.set("key", 7L))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("always generated");
      }
      writer.commit();
    }
    TableSnapshot created = table.latest();
    assertThat(created.version()).isZero();
    Identity after = created.declarations().identities().get(0);
    assertThat(after.follows(identity)).isTrue();
    assertThat(created.declarations()).isEqualTo(declared.withIdentities(List.of(after)));
    List<Long> keys = keys(created);
    assertThat(keys).hasSize(4000).doesNotHaveDuplicates();
    assertThat(keys).allMatch(key -> key >= 10 && key % 5 == 0 && key < after.next());
    assertThat(keys.subList(0, 3)).containsExactly(10L, 15L, 20L);
    assertThat(table.reserve(after, 1).valueAt(0)).isEqualTo(after.next());
  }

  @Test
  void aTableWithoutWhatItDeclaresIsNotBegun() {
    storage = LocalStorage.at(directory.resolve("table"));
    Declarations declared = Declarations.NONE.withIdentities(List.of(Identity.byDefault(2, 1, 1)));
    assertThatThrownBy(() -> RecordDatasetWriter.create(storage, SCHEMA, OPTIONS, declared))
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("'value'");
  }

  @Test
  void theNumbersOfATableThatAWriterCreatesComeToAnEnd() {
    storage = LocalStorage.at(directory.resolve("table"));
    Declarations declared =
        Declarations.NONE.withIdentities(List.of(Identity.always(1, Long.MAX_VALUE - 3, 1)));
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(storage, SCHEMA, OPTIONS, declared)) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < 3; i++) {
        records.set("value", i).set("other", i).endRecord();
      }
      assertThatThrownBy(() -> records.set("value", 3).set("other", 3).endRecord())
          .isInstanceOf(ValueTooLargeException.class);
    }
  }

  private static List<Long> keys(TableSnapshot version) {
    try (RecordDataset dataset = RecordDataset.open(version, RecordDataset.ReadOptions.defaults());
        Batch batch = dataset.gather(LongStream.range(0, dataset.length()).toArray(), "key")) {
      return IntStream.range(0, batch.count())
          .mapToObj(i -> batch.value("key", i).order(ByteOrder.LITTLE_ENDIAN).getLong(0))
          .toList();
    }
  }

  /** A merge that adds shards says nothing of the fields in which it changes other records. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aMergeGivesNoValuesThatAreAlwaysGenerated(boolean inTables) {
    create(What.COMMENT);
    TableSnapshot plain = table.latest();
    ShardChange before = changed(plain, "key");
    MergeChange.of(plain).change(before).commit();
    DeclarationChange.of(table.latest()).add(Identity.always(1, 1000, 1)).commit();
    TableSnapshot base = table.latest();
    for (String field : List.of("key", "value")) {
      ShardSummary after = changed(base, field).after().get(0);
      if (inTables) {
        PatchFile patch =
            Objects.requireNonNull(OpenShards.unshared(storage, after).patch());
        after = new PatchToTables(storage, base.schema(), new ArrayList<>())
            .moveChanged(after, patch, Set.of(1, 2));
        assertThat(after.patch()).isNull();
      }
      TableChange change = TableChange.of(TableChange.Kind.MERGE, base.schema())
          .base(base)
          .replacements(
              List.of(TableChange.Replacement.ofRows(base.shards().get(0), List.of(after))))
          .shards(List.of(base.shards().get(1)))
          .assigned(base.declarations().identities())
          .build();
      if (field.equals("key")) {
        assertThatThrownBy(() -> table.commit(change))
            .isInstanceOf(SchemaMismatchException.class)
            .hasMessageContaining("'key' is always generated");
        assertThat(table.latest().version()).isEqualTo(base.version());
      } else {
        assertThat(table.commit(change).version()).isEqualTo(base.version() + 1);
      }
    }
  }

  /** Gives the first record of the first shard another value of a field. */
  private ShardChange changed(TableSnapshot base, String field) {
    try (ShardChangeWriter writer =
        ShardChangeWriter.open(storage, ChangeBase.of(base), base.shards().get(0), Set.of(field))) {
      writer.update(0, field, 77);
      return writer.finish();
    }
  }

  @Test
  void aTableThatIsReplacedDeclaresWhatItSays() {
    create(What.COMMENT);
    TableSnapshot base = table.latest();
    Declarations wanted = Declarations.NONE.withProperties(Map.of("a", "b"));
    table.commit(TableChange.of(TableChange.Kind.OVERWRITE, base.schema())
        .base(base)
        .declaring(wanted)
        .build());
    assertThat(table.latest().declarations()).isEqualTo(wanted);
  }

  @Test
  void aRetractionEndsWhatTheTableDeclared() {
    storage = LocalStorage.at(directory.resolve("table"));
    table = RecordTable.at(storage);
    TableSnapshot created = table.commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA)
        .declaring(Declarations.NONE.withComment("gone"))
        .build());
    assertThat(created.declarations().comment()).isEqualTo("gone");
    assertThat(table.retract(created.commitId())).isTrue();
    table.commit(
        TableChange.of(TableChange.Kind.CREATE, SCHEMA).base(Optional.empty()).build());
    assertThat(table.latest().declarations()).isEqualTo(Declarations.NONE);
  }
}
