package io.zrecord.internal.table;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The table under {@code golden/v2-texts}: five texts, one of them empty and one absent, so few
 * that FORMAT.md shows the files. As with {@link GoldenDataset}, the files are written by
 * {@link #main}, and from the freeze of format 2 on never again.
 */
final class GoldenTexts {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2-texts");
  static final List<@Nullable String> TEXTS =
      Collections.unmodifiableList(Arrays.asList("a", "", null, "zrecord", "\u00e9"));

  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("text", ElementType.UTF8).build();

  private GoldenTexts() {}

  /** Writes the table to a directory that does not exist. */
  public static void main(String[] arguments) {
    write(Path.of(arguments[0]));
  }

  static void write(Path directory) {
    Storage storage = LocalStorage.at(directory);
    UUID commit = uuid(3);
    Manifest manifest = new Manifest(
        new Manifest.Head(
            uuid(2),
            0,
            commit,
            Optional.empty(),
            OptionalLong.empty(),
            1_790_000_000_000L,
            "create",
            Map.of()),
        SCHEMA,
        2,
        List.of(),
        List.of(writeShard(storage)),
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(new RecordsVersion(0, commit), 0, List.of()));
    new ManifestLog(storage).publish(manifest);
  }

  private static UUID uuid(int number) {
    return new UUID(0x1111_1111_1111_4111L * number, 0x8111_1111_1111_1111L);
  }

  private static ShardSummary writeShard(Storage storage) {
    WriteOptions options =
        WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, uuid(1), SCHEMA, options)) {
      for (String text : TEXTS) {
        if (text != null) {
          byte[] value = text.getBytes(StandardCharsets.UTF_8);
          writer.put(0, value, 0, value.length);
        }
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }
}
