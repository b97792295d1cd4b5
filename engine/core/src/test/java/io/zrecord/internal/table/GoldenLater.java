package io.zrecord.internal.table;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.ShardOnDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * The table under {@code golden/v2-later}, as a later release might write it: the dtype of the
 * field {@code far} is unknown, and objects have unknown members. The value of {@code near} in
 * record <i>i</i> is 3·<i>i</i>.
 */
final class GoldenLater {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2-later");
  static final int RECORDS = 20;
  static final String LATER = "\"later\":{\"deep\":[1.5,null,123456789012345678901234567890]}";

  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("near", ElementType.I32)
      .field("far", ElementType.U8)
      .build();
  private static final UUID SHARD = new UUID(0x1212_1212_1212_4212L, 0x8212_1212_1212_1212L);
  private static final UUID TABLE = new UUID(0x3434_3434_3434_4434L, 0x8434_3434_3434_3434L);
  private static final UUID COMMIT = new UUID(0x5656_5656_5656_4656L, 0x8656_5656_5656_5656L);

  private GoldenLater() {}

  /** Writes the table to a directory that does not exist. */
  public static void main(String[] arguments) throws IOException {
    write(Path.of(arguments[0]));
  }

  static void write(Path directory) throws IOException {
    Storage storage = LocalStorage.at(directory);
    ShardSummary written = writeShard(storage);
    ShardOnDisk files = ShardOnDisk.of(directory.resolve(written.directory()));
    ShardSummary later = files.writeJson(sealed(asLater(files.sealedJson())));
    ShardSummary shard = new ShardSummary(
        later.id(),
        later.length(),
        later.chunks(),
        later.tables(),
        written.valueBytes(),
        List.of(),
        null,
        "{" + LATER + "}");
    Manifest manifest = new Manifest(
        new Manifest.Head(
            TABLE,
            0,
            COMMIT,
            Optional.empty(),
            OptionalLong.empty(),
            1_790_000_000_000L,
            "create",
            Map.of()),
        SCHEMA,
        3,
        List.of(),
        List.of(shard),
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(new RecordsVersion(0, COMMIT), 0, List.of()));
    Path file = directory.resolve(ManifestNames.nameOf(0));
    Files.createDirectories(directory.resolve(ManifestNames.DIRECTORY));
    Files.write(file, sealed(asLater(manifest.write())));
  }

  /** Returns the body of a file of this release, as a later release would have written it. */
  private static String asLater(byte[] file) {
    String text = new String(file, UTF_8);
    String body = text.substring(0, text.lastIndexOf(",\"crc32c\":"));
    return body.replace("\"dtype\":\"u8\"", "\"dtype\":\"f8_e4m3\"," + LATER)
        .replaceFirst("\"format\":2", "\"format\":2," + LATER);
  }

  private static byte[] sealed(String body) {
    byte[] bytes = body.getBytes(UTF_8);
    String digits = HexFormat.of().toHexDigits(Crc32c.of(bytes, 0, bytes.length));
    return (body + ",\"crc32c\":\"" + digits + "\"}\n").getBytes(UTF_8);
  }

  private static ShardSummary writeShard(Storage storage) {
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, SHARD, SCHEMA, options)) {
      for (int i = 0; i < RECORDS; i++) {
        writer.put(0, new byte[] {(byte) (3 * i), 0, 0, 0}, 0, 4);
        writer.put(1, new byte[] {(byte) i}, 0, 1);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }
}
