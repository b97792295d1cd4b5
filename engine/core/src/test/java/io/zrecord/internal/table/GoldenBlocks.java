package io.zrecord.internal.table;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.Transform;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * The table under {@code golden/v2-blocks}: values that are compressed together, by each codec and
 * transform. A shard for each transform; blocks of several values, values longer than a block,
 * blocks that do not compress, absent and empty values. Values are formulas of field and index.
 *
 * <p>The files in the repository are written by {@link #main}, like those of {@link GoldenDataset}.
 */
final class GoldenBlocks {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2-blocks");
  static final int RECORDS = 300;
  static final RecordSchema SCHEMA = schema();

  private static final UUID TABLE = new UUID(0xabab_abab_abab_4babL, 0x8bab_abab_abab_ababL);
  private static final UUID COMMIT = new UUID(0xbcbc_bcbc_bcbc_4cbcL, 0x8cbc_bcbc_bcbc_bcbcL);

  /** Records in the file of values, in all four shards. */
  private static final long[] SAMPLE = {0, 1, 2, 7, 60, 61, 150, 299, 300, 431, 600, 777, 899, 1199
  };

  private GoldenBlocks() {}

  /** Writes the table, and the file of values beside it, into a directory without them. */
  public static void main(String[] arguments) throws IOException {
    Path directory = Path.of(arguments[0]);
    write(directory.resolve("v2-blocks"));
    Files.writeString(directory.resolve("v2-blocks-values.json"), values());
  }

  private static RecordSchema schema() {
    RecordSchema.Builder builder = RecordSchema.builder();
    for (String codec : List.of("zstd:3", "lz4:0", "flate:6")) {
      Compression compression = Compression.parse(codec);
      String name = compression.codec() + " ";
      builder
          .field(name + "text", ElementType.UTF8, Shape.scalar(), compression)
          .field(name + "noise", ElementType.BYTES, Shape.scalar(), compression)
          .field(name + "hash", ElementType.U64, Shape.scalar(), compression)
          .field(name + "i16", ElementType.I16, Shape.scalar(), compression)
          .field(name + "sorted", ElementType.I64, Shape.scalar(), compression)
          .field(name + "label", ElementType.I32, Shape.scalar(), compression)
          .field(name + "decimal", ElementType.decimal(30, 4), Shape.scalar(), compression)
          .field(name + "pixels", ElementType.U8, Shape.of(5, 3), compression)
          .field(name + "points", ElementType.F32, Shape.of(-1, 2), compression);
    }
    return builder.build();
  }

  /** Returns the value of a field; empty if it is absent. */
  static Optional<byte[]> value(FieldSpec field, int i) {
    String name = field.name().substring(field.name().indexOf(' ') + 1);
    boolean hasAbsent = !name.equals("label") && !name.equals("hash");
    if (hasAbsent && (i + field.id()) % 7 == 0) {
      return Optional.empty();
    }
    ByteBuffer value = ByteBuffer.allocate(1 << 13).order(ByteOrder.LITTLE_ENDIAN);
    switch (name) {
      case "text" -> value.put(text(i).getBytes(UTF_8));
      case "noise" -> {
        int state = i;
        for (int k = i % 40; k > 0; k--) {
          state = state * 1_103_515_245 + 12_345;
          value.put((byte) (state >>> 16));
        }
      }
      case "hash" -> {
        long hash = i * 0x9e37_79b9_7f4a_7c15L;
        hash = (hash ^ hash >>> 32) * 0xd6e8_feb8_6659_fd93L;
        value.putLong(hash ^ hash >>> 29);
      }
      case "i16" -> value.putShort((short) (1000 * i));
      case "sorted" -> value.putLong(1L << 40 | 37L * i);
      case "label" -> value.putInt(i * i % 1000);
      case "decimal" -> value.putLong(-17L * i).putLong(i == 0 ? 0 : -1);
      case "pixels" -> {
        for (int k = 0; k < 15; k++) {
          value.put((byte) (i / 10 + k));
        }
      }
      default -> {
        for (int k = 0; k < i % 5; k++) {
          value.putFloat(i).putFloat(k);
        }
      }
    }
    byte[] bytes = new byte[value.position()];
    value.flip().get(bytes);
    return Optional.of(bytes);
  }

  /** Two texts are longer than a block, unless they are absent. */
  private static String text(int i) {
    return i == 60 || i == 299
        ? "zrecord ".repeat(600 + i)
        : "record " + i + ": é\uD83D\uDE00 ".repeat(i % 6);
  }

  static void write(Path directory) {
    Storage storage = LocalStorage.at(directory);
    List<ShardSummary> shards = new ArrayList<>();
    for (Transform transform : Transform.values()) {
      shards.add(writeShard(storage, transform, 0xc1 + shards.size()));
    }
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
        SCHEMA.fields().size() + 1,
        List.of(),
        shards,
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(new RecordsVersion(0, COMMIT), 0, List.of()));
    new ManifestLog(storage).publish(manifest);
  }

  private static ShardSummary writeShard(Storage storage, Transform transform, int digit) {
    long digits = 0x0101_0101_0101_0101L * digit;
    UUID id = new UUID((digits & ~0xf000L) | 0x4000, (digits >>> 2) | Long.MIN_VALUE);
    WriteOptions options = WriteOptions.defaults()
        .withBlockBytes(4096)
        .withTransform(transform)
        .withStripeBytes(1 << 20)
        .withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, id, SCHEMA, options)) {
      for (int i = 0; i < RECORDS; i++) {
        for (int field = 0; field < SCHEMA.fields().size(); field++) {
          Optional<byte[]> value = value(SCHEMA.fields().get(field), i);
          if (value.isPresent()) {
            writer.put(field, value.get(), 0, value.get().length);
          }
        }
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private static String values() {
    StringBuilder json = new StringBuilder("{\n\"dataset\": \"v2-blocks\",\n\"version\": 0,\n")
        .append("\"records\": ")
        .append(java.util.Arrays.toString(SAMPLE))
        .append(",\n\"values\": {\n");
    String before = "";
    for (FieldSpec field : SCHEMA.fields()) {
      List<String> values = new ArrayList<>();
      for (long record : SAMPLE) {
        values.add(value(field, (int) record % RECORDS)
            .map(value -> '"' + HexFormat.of().formatHex(value) + '"')
            .orElse("null"));
      }
      json.append(before).append('"').append(field.name()).append("\": ").append(values);
      before = ",\n";
    }
    return json.append("\n}\n}\n").toString();
  }
}
