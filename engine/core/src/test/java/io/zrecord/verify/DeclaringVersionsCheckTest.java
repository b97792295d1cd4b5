package io.zrecord.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.DeclarationChange;
import io.zrecord.table.FieldPlace;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.SchemaChange;
import io.zrecord.table.TableSnapshot;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A check finds versions that declare though their operation may not. */
final class DeclaringVersionsCheckTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);
  private static final RecordSchema SCHEMA = new RecordSchema(List.of(
      new FieldSpec(1, "id", ElementType.I64, Shape.scalar(), Compression.RAW)
          .withRules(FieldRules.NONE.withNullable(false)),
      new FieldSpec(2, "value", ElementType.I32, Shape.scalar(), Compression.RAW)));

  @TempDir
  Path directory;

  private RecordTable table;

  @BeforeEach
  void create() {
    Storage storage = LocalStorage.at(directory);
    table = RecordTable.at(storage);
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(storage, SCHEMA, OPTIONS)) {
      writer.newAppender().set("id", 1L).set("value", 1).endRecord();
      writer.commit();
    }
    DeclarationChange.of(table.latest()).add(Identity.byDefault(1, 1, 1)).commit();
    table.reserve(table.latest().declarations().identities().get(0), 10);
  }

  private TableSnapshot commit(String operation) {
    return switch (operation) {
      case "addFields" -> table.addFields(List.of(SCHEMA.fields().get(1).withName("x")));
      case "schema" -> table.renameField("value", "v");
      case "rewriteField" -> {
        try (RecordFieldsWriter writer =
            RecordFieldsWriter.rewrite(table, Set.of("value"), OPTIONS)) {
          RecordAppender values = writer.newAppender(0);
          values.set("value", 2).endRecord();
          yield writer.commit();
        }
      }
      case "update" -> {
        RowChange change = RowChange.of(table.latest());
        change.update(0, "value", 3);
        yield change.commit();
      }
      default -> {
        table.tag(0, "first");
        yield table.latest();
      }
    };
  }

  private void forge(TableSnapshot version, Consumer<ObjectNode> change) throws Exception {
    Path file = directory.resolve(ManifestNames.nameOf(version.version()));
    ObjectNode json = (ObjectNode) MAPPER.readTree(Files.readAllBytes(file));
    json.remove("crc32c");
    change.accept((ObjectNode) json.get("declarations"));
    Files.write(file, SealedJson.seal(json));
  }

  private boolean isSound() {
    return DatasetCheck.of(directory.toString())
        .allVersions()
        .run(finding -> {})
        .isSound();
  }

  @ParameterizedTest
  @ValueSource(strings = {"addFields", "schema", "rewriteField", "update", "tag"})
  void onlyChangesOfFieldsMayDeclare(String operation) throws Exception {
    TableSnapshot version = commit(operation);
    assertThat(version.operation()).isEqualTo(operation);
    assertThat(isSound()).isTrue();
    forge(version, declarations -> declarations.put("comment", "other"));
    assertThat(isSound()).isEqualTo(Set.of("addFields", "schema").contains(operation));
  }

  @ParameterizedTest
  @ValueSource(strings = {"addFields", "schema"})
  void aChangeOfFieldsTakesNoNumbersBack(String operation) throws Exception {
    forge(
        commit(operation),
        declarations -> ((ObjectNode) declarations.get("identities").get(0)).put("next", 1));
    assertThat(isSound()).isFalse();
  }

  @Test
  void aChangeOfFieldsThatDeclaresIsSound() {
    SchemaChange.of(table.latest())
        .add(SCHEMA.fields().get(1).withName("x"), FieldPlace.first())
        .declare(declarations -> declarations.dropIdentity("id").comment("text"))
        .drop("id")
        .commit();
    assertThat(isSound()).isTrue();
  }
}
