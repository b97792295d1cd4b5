package io.zrecord.internal.table;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.zrecord.schema.Compression;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.OrderField;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * The table under {@code golden/v2-declarations}: one shard of four records, 0 to 3 in the field
 * {@code label}, 1000 and more in {@code when}, and the texts {@code train} in {@code split}.
 * Version 0 has a comment only, version 1 declares all that can be declared, and version 2 is a
 * rename of {@code split}. As with {@link GoldenDataset}, the files are written by {@link #main},
 * and from the freeze of format 2 on never again.
 */
final class GoldenDeclarations {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2-declarations");
  static final int RECORDS = 4;

  /** The table had a field of the number 4 once. */
  private static final int NEXT_FIELD_ID = 5;

  static final Declarations COMMENT = Declarations.NONE.withComment("images, Ünïcode");
  static final Declarations ALL = COMMENT
      .withProperties(Map.of("owner", "the team", "zrecord.isolation", "snapshot", "empty", ""))
      .withWriteOrder(List.of(
          new OrderField(2, OrderField.Direction.DESCENDING, OrderField.Nulls.FIRST),
          new OrderField(1, OrderField.Direction.ASCENDING, OrderField.Nulls.LAST)))
      .withConstraints(List.of(
          Constraint.check("positive", "label >= 0", List.of(1)),
          Constraint.check("early", "when < 5000", List.of(2)).notEnforced(),
          Constraint.primaryKey("pk", List.of(1, 2)),
          Constraint.unique("uq", List.of(2)),
          Constraint.foreignKey(
              "fk", List.of(1), new Constraint.Reference("db.labels", List.of("id"))),
          Constraint.foreignKey(
              "fk2", List.of(3), new Constraint.Reference("db.splits", List.of()))));

  private static final RecordSchema SCHEMA = new RecordSchema(List.of(
      field(1, "label", ElementType.I32),
      field(2, "when", ElementType.I64)
          .withRules(FieldRules.NONE.withDefaultSql("unix_micros(now())")),
      field(3, "split", ElementType.UTF8)
          .withRules(FieldRules.NONE
              .withWrite("train".getBytes(UTF_8))
              .withDefaultSql("lower('TRAIN')"))));

  private GoldenDeclarations() {}

  private static FieldSpec field(int id, String name, ElementType type) {
    return new FieldSpec(id, name, type, Shape.scalar(), Compression.RAW);
  }

  /** Writes the table to a directory that does not exist. */
  public static void main(String[] arguments) {
    write(Path.of(arguments[0]));
  }

  static void write(Path directory) {
    Storage storage = LocalStorage.at(directory);
    ShardSummary shard = writeShard(storage);
    ManifestLog log = new ManifestLog(storage);
    log.publish(version(0, "create", SCHEMA, COMMENT, 0, shard));
    log.publish(version(1, "declare", SCHEMA, ALL, 0, shard));
    List<FieldSpec> fields = List.of(
        SCHEMA.fields().get(0), SCHEMA.fields().get(1), SCHEMA.fields().get(2).withName("part"));
    log.publish(version(2, "schema", new RecordSchema(fields), ALL, 2, shard));
  }

  private static Manifest version(
      int number,
      String operation,
      RecordSchema schema,
      Declarations declarations,
      int records,
      ShardSummary shard) {
    return new Manifest(
        new Manifest.Head(
            uuid(2),
            number,
            uuid(6 + number),
            number == 0 ? Optional.empty() : Optional.of(uuid(5 + number)),
            number == 0 ? OptionalLong.empty() : OptionalLong.of(number - 1),
            1_790_000_000_000L + number,
            operation,
            Map.of()),
        schema,
        List.of(),
        declarations,
        NEXT_FIELD_ID,
        List.of(),
        List.of(shard),
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(new RecordsVersion(records, uuid(6 + records)), 0, List.of()));
  }

  private static UUID uuid(int number) {
    return new UUID(0x1111_1111_1111_4111L * number, 0x8111_1111_1111_1111L);
  }

  private static ShardSummary writeShard(Storage storage) {
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, uuid(1), SCHEMA, options)) {
      for (int i = 0; i < RECORDS; i++) {
        writer.put(0, new byte[] {(byte) i, 0, 0, 0}, 0, 4);
        writer.putLong(1, 1000 + i);
        writer.put(2, "train".getBytes(UTF_8), 0, 5);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }
}
