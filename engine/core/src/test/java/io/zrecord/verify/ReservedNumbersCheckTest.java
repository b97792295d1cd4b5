package io.zrecord.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.DeclarationChange;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A check finds versions that take reserved numbers back, or change what they may not. */
final class ReservedNumbersCheckTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String TAIL = "-1111-4111-8111-111111111111";
  private static final int FIRST_DECLARE = 1;
  private static final int RESERVE = 2;
  private static final int TAG = 3;
  private static final int DECLARE = 4;
  private static final int REPAIR = 5;

  @TempDir
  Path directory;

  /** Version 1 declares an identity, version 2 reserves 1 to 10 of it. */
  @BeforeEach
  void create() {
    RecordTable table = RecordTable.at(LocalStorage.at(directory));
    FieldSpec id = new FieldSpec(1, "id", ElementType.I64, Shape.scalar(), Compression.RAW)
        .withRules(FieldRules.NONE.withNullable(false));
    table.commit(
        TableChange.of(TableChange.Kind.CREATE, new RecordSchema(List.of(id))).build());
    DeclarationChange.of(table.latest()).add(Identity.always(1, 1, 1)).commit();
    table.reserve(table.latest().declarations().identities().get(0), 10);
    table.tag(0, "kept");
    DeclarationChange.of(table.latest()).comment("text").commit();
    table.restore(table.latest().commitId());
  }

  static Stream<Arguments> forgings() {
    return Stream.of(
        forging(TAG, true, json -> {}),
        forging(FIRST_DECLARE, false, json -> identity(json).put("next", 21)),
        forging(RESERVE, false, json -> identity(json).put("next", 21)),
        forging(TAG, false, json -> identity(json).put("next", 21)),
        forging(DECLARE, false, json -> identity(json).put("next", 1)),
        forging(DECLARE, false, json -> identity(json).put("start", 11)),
        forging(REPAIR, true, json -> identity(json).put("sequence", "1".repeat(8) + TAIL)),
        forging(REPAIR, false, json -> identity(json).put("next", 1)),
        forging(REPAIR, false, json -> identity(json).put("next", 12)),
        forging(REPAIR, false, json -> identity(json).put("explicit", true)),
        forging(REPAIR, false, json -> declarations(json).put("comment", "other")),
        forging(RESERVE, false, json -> declarations(json).put("comment", "other")));
  }

  private static Arguments forging(int version, boolean isSound, Consumer<ObjectNode> change) {
    return Arguments.of(version, isSound, change);
  }

  private static ObjectNode declarations(ObjectNode manifest) {
    return (ObjectNode) manifest.get("declarations");
  }

  private static ObjectNode identity(ObjectNode manifest) {
    return (ObjectNode) declarations(manifest).get("identities").get(0);
  }

  @ParameterizedTest
  @MethodSource("forgings")
  void whatAVersionMayNotChangeIsFound(int version, boolean isSound, Consumer<ObjectNode> change)
      throws Exception {
    Path file = directory.resolve(ManifestNames.nameOf(version));
    ObjectNode json = (ObjectNode) MAPPER.readTree(Files.readAllBytes(file));
    json.remove("crc32c");
    change.accept(json);
    Files.write(file, SealedJson.seal(json));
    assertThat(isSound()).isEqualTo(isSound);
  }

  private boolean isSound() {
    try {
      return DatasetCheck.of(directory.toString())
          .allVersions()
          .run(finding -> {})
          .isSound();
    } catch (ZRecordException e) {
      return false;
    }
  }
}
