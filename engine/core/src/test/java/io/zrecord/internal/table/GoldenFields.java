package io.zrecord.internal.table;

import io.zrecord.internal.shard.write.ShardFilesWriter;
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
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardFields;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * The table under {@code golden/v2-fields}: one shard of five records whose fields were changed.
 * Version 0 has labels and texts; version 1 adds scores to the shard, version 2 rewrites the
 * labels, version 3 adds a field with defaults only, version 4 drops the texts, renames the labels
 * and promotes them. As with {@link GoldenDataset}, the files are written by {@link #main}, and
 * from the freeze of format 2 on never again.
 */
final class GoldenFields {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2-fields");
  static final int RECORDS = 5;

  private static final List<Integer> NEXT_FIELD_IDS = List.of(3, 4, 4, 5, 5);

  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
  private static final FieldSpec LABEL = field(1, "label", ElementType.I32);
  private static final FieldSpec TEXT = field(2, "text", ElementType.UTF8);
  private static final FieldSpec SCORE = field(3, "score", ElementType.F32);
  private static final FieldSpec SPLIT = field(4, "split", ElementType.UTF8)
      .withRules(FieldRules.NONE
          .withNullable(false)
          .withInitial("train".getBytes(StandardCharsets.UTF_8))
          .withWrite("test".getBytes(StandardCharsets.UTF_8))
          .withComment("the part of the data"));

  private GoldenFields() {}

  private static FieldSpec field(int id, String name, ElementType type) {
    return new FieldSpec(id, name, type, Shape.scalar(), Compression.RAW);
  }

  /** Writes the table to a directory that does not exist. */
  public static void main(String[] arguments) {
    write(Path.of(arguments[0]));
  }

  static void write(Path directory) {
    write(directory, FieldRules.NONE);
  }

  /** Writes the table with other rules of the scores, of which the third is absent. */
  static void write(Path directory, FieldRules rulesOfScore) {
    FieldSpec score = SCORE.withRules(rulesOfScore);
    Storage storage = LocalStorage.at(directory);
    List<Manifest> versions = new ArrayList<>();
    ShardSummary shard = write(storage, uuid(1), List.of(LABEL, TEXT));
    versions.add(version(0, "create", List.of(LABEL, TEXT), shard));
    shard = with(storage, shard, write(storage, uuid(4), List.of(SCORE)));
    versions.add(version(1, "addFields", List.of(LABEL, TEXT, score), shard));
    shard = with(storage, shard, write(storage, uuid(5), List.of(LABEL)));
    versions.add(version(2, "rewriteField", List.of(LABEL, TEXT, score), shard));
    versions.add(version(3, "addFields", List.of(LABEL, TEXT, score, SPLIT), shard));
    FieldSpec renamed = LABEL.withName("class").withType(ElementType.I64);
    versions.add(version(4, "schema", List.of(renamed, score, SPLIT), shard));
    versions.forEach(new ManifestLog(storage)::publish);
  }

  private static ShardSummary with(Storage storage, ShardSummary shard, ShardSummary added) {
    return ShardFields.with(storage, shard, added, Durability.NONE);
  }

  private static Manifest version(
      int number, String operation, List<FieldSpec> fields, ShardSummary shard) {
    UUID commit = uuid(6 + number);
    return new Manifest(
        new Manifest.Head(
            uuid(2),
            number,
            commit,
            number == 0 ? Optional.empty() : Optional.of(uuid(5 + number)),
            number == 0 ? OptionalLong.empty() : OptionalLong.of(number - 1),
            1_790_000_000_000L + number,
            operation,
            Map.of()),
        new RecordSchema(fields),
        NEXT_FIELD_IDS.get(number),
        List.of(),
        List.of(shard),
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(new RecordsVersion(number, commit), 0, List.of()));
  }

  private static UUID uuid(int number) {
    return new UUID(0x1111_1111_1111_4111L * number, 0x8111_1111_1111_1111L);
  }

  /** Writes fields of the shard; those written first are the shard. */
  private static ShardSummary write(Storage storage, UUID seed, List<FieldSpec> fields) {
    boolean isFirst = seed.equals(uuid(1));
    try (ShardFilesWriter writer = new ShardFilesWriter(
        storage, "shard/" + uuid(1), uuid(1), seed, new RecordSchema(fields), OPTIONS)) {
      for (int i = 0; i < RECORDS; i++) {
        for (int field = 0; field < fields.size(); field++) {
          FieldSpec spec = fields.get(field);
          if (spec.equals(LABEL)) {
            writer.column(field).putInt(isFirst ? i : -i);
          } else if (spec.equals(SCORE) && i != 2) {
            writer.column(field).putInt(Float.floatToRawIntBits(i / 2f));
          } else if (spec.equals(TEXT)) {
            byte[] text = ("text " + i).getBytes(StandardCharsets.UTF_8);
            writer.column(field).put(text, 0, text.length);
          }
        }
        writer.endRecord();
      }
      return writer.seal();
    }
  }
}
