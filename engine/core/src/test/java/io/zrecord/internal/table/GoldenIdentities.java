package io.zrecord.internal.table;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.zrecord.schema.Compression;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
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
 * The table under {@code golden/v2-identity}. Version 0 is empty, version 1 declares an identity of
 * the field {@code id} that is always generated and one of {@code down} by default, version 2
 * reserves eight numbers of the first and version 3 four of the second. Version 4 appends a shard
 * of three records, and version 5 renames {@code id}. As with {@link GoldenDataset}, the files are
 * written by {@link #main}, and from the freeze of format 2 on never again.
 */
final class GoldenIdentities {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2-identity");

  /** The identities of each version. */
  static final List<List<Identity>> IDENTITIES = List.of(
      List.of(),
      List.of(id(10), down(-9_000_000_000L)),
      List.of(id(34), down(-9_000_000_000L)),
      List.of(id(34), down(-9_000_000_004L)),
      List.of(id(34), down(-9_000_000_004L)),
      List.of(id(34), down(-9_000_000_004L)));

  private static final List<String> OPERATIONS =
      List.of("create", "declare", "reserve", "reserve", "append", "schema");

  private static final int APPEND = OPERATIONS.indexOf("append");

  private static final RecordSchema SCHEMA = new RecordSchema(List.of(
      field(1, "id", ElementType.I64).withRules(FieldRules.NONE.withNullable(false)),
      field(2, "down", ElementType.I64).withRules(FieldRules.NONE.withNullable(false)),
      field(3, "text", ElementType.UTF8),
      field(4, "narrow", ElementType.I32).withRules(FieldRules.NONE.withNullable(false))));

  private GoldenIdentities() {}

  private static Identity id(long next) {
    return new Identity(1, uuid(4), Identity.Generation.ALWAYS, 10, 3, next);
  }

  private static Identity down(long next) {
    return new Identity(2, uuid(5), Identity.Generation.BY_DEFAULT, -9_000_000_000L, -1, next);
  }

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
    for (int version = 0; version < OPERATIONS.size(); version++) {
      log.publish(version(version, version < APPEND ? List.of() : List.of(shard)));
    }
  }

  private static Manifest version(int number, List<ShardSummary> shards) {
    FieldSpec id = SCHEMA.fields().get(0).withName(number == 5 ? "key" : "id");
    List<FieldSpec> fields = List.of(
        id, SCHEMA.fields().get(1), SCHEMA.fields().get(2), SCHEMA.fields().get(3));
    int records = number < APPEND ? 0 : number;
    return new Manifest(
        new Manifest.Head(
            uuid(2),
            number,
            uuid(8 + number),
            number == 0 ? Optional.empty() : Optional.of(uuid(7 + number)),
            number == 0 ? OptionalLong.empty() : OptionalLong.of(number - 1),
            1_790_000_000_000L + number,
            OPERATIONS.get(number),
            Map.of()),
        new RecordSchema(fields),
        List.of(),
        Declarations.NONE.withIdentities(IDENTITIES.get(number)),
        5,
        List.of(),
        shards,
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(new RecordsVersion(records, uuid(8 + records)), 0, List.of()));
  }

  private static UUID uuid(int number) {
    return new UUID(0x1111_1111_1111_4111L * number, 0x8111_1111_1111_1111L);
  }

  private static ShardSummary writeShard(Storage storage) {
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, uuid(1), SCHEMA, options)) {
      for (int i = 0; i < 3; i++) {
        writer.putLong(0, 10 + 3 * i);
        writer.putLong(1, i == 1 ? 77 : -9_000_000_000L - i);
        writer.put(2, "abc".substring(i, i + 1).getBytes(UTF_8), 0, 1);
        writer.put(3, new byte[] {(byte) i, 0, 0, 0}, 0, 4);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }
}
