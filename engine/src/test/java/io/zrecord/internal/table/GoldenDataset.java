package io.zrecord.internal.table;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.ShardWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The datasets under {@code golden/v1}: every dtype, codec and layout, absent and empty values, two
 * versions, a shard list, and a shard on its own without checksums. Its values are formulas of
 * field and index.
 *
 * <p>The files in the repository were written once, by {@link #main}, and are never written again:
 * they represent the datasets that users have. A change of the format adds a directory beside them.
 */
final class GoldenDataset {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v1");
  static final int RECORDS = 40;
  static final UUID RAW_SHARD = new UUID(0x1111_1111_1111_4111L, 0x8111_1111_1111_1111L);
  static final UUID COMPRESSED_SHARD = new UUID(0x2222_2222_2222_4222L, 0x8222_2222_2222_2222L);
  static final UUID SHARD_ALONE = new UUID(0x3333_3333_3333_4333L, 0x8333_3333_3333_3333L);
  static final RecordSchema RAW = raw();
  static final RecordSchema COMPRESSED = compressed();

  private static final UUID TABLE = new UUID(0x4444_4444_4444_4444L, 0x8444_4444_4444_4444L);
  private static final String LIST = "list/55555555-5555-4555-8555-555555555555.json";

  private GoldenDataset() {}

  /** Writes the datasets below a directory that does not exist. */
  public static void main(String[] arguments) throws IOException {
    write(Path.of(arguments[0]));
  }

  private static RecordSchema raw() {
    RecordSchema.Builder builder = RecordSchema.builder();
    for (ElementType.Kind kind : ElementType.Kind.values()) {
      if (kind != ElementType.Kind.DECIMAL) {
        builder.field(ElementType.of(kind).toString(), ElementType.of(kind));
      }
    }
    return builder
        .field("decimal(9,2)", ElementType.decimal(9, 2))
        .field("decimal(18,4)", ElementType.decimal(18, 4))
        .field("decimal(38,10)", ElementType.decimal(38, 10))
        .field("image", ElementType.U8, Shape.of(3, 5), Compression.RAW)
        .field("points", ElementType.F32, Shape.of(-1, 2), Compression.RAW)
        .field("nothing", ElementType.I32, Shape.of(0), Compression.RAW)
        .field("标签 \uD83D\uDE00/../x", ElementType.I64)
        .field("IMAGE", ElementType.I16)
        .field("dense", ElementType.I32)
        .build();
  }

  private static RecordSchema compressed() {
    List<FieldSpec> fields = new ArrayList<>();
    int id = RAW.fields().size() + 1;
    for (String codec : List.of("flate:9", "zstd:3", "lz4:0", "lz4:9")) {
      String name = codec.replace(':', '-');
      Compression compression = Compression.parse(codec);
      fields.add(new FieldSpec(
          id++, name, ElementType.BYTES, Shape.scalar(), compression, Map.of("codec", codec)));
      fields.add(new FieldSpec(
          id++, name + "-fixed", ElementType.I32, Shape.of(16), compression, Map.of()));
    }
    return new RecordSchema(fields);
  }

  /** Returns the value of a field of the golden data; empty if it is absent. */
  static Optional<byte[]> value(FieldSpec field, int i) {
    boolean isNeverAbsent = field.name().equals("dense");
    if (!isNeverAbsent && (i + field.id()) % 7 == 0) {
      return Optional.empty();
    }
    int width = field.valueWidthBytes().orElse(-1);
    if (field.type().equals(ElementType.UTF8)) {
      return Optional.of("é\uD83D\uDE00".repeat(i % 4).getBytes(UTF_8));
    }
    if (field.name().equals("points")) {
      width = 8 * (i % 4);
    } else if (field.type().equals(ElementType.BYTES)) {
      width = i % 5 == 0 ? 0 : i * 11;
    }
    byte[] value = new byte[width];
    boolean compresses = i % 2 == 0;
    int state = 31 * field.id() + i;
    for (int k = 0; k < width; k++) {
      state = state * 1_103_515_245 + 12_345;
      value[k] = (byte) (compresses ? i : state >>> 16);
    }
    if (field.type().equals(ElementType.BOOL)) {
      value[0] = (byte) (i & 1);
    }
    return Optional.of(value);
  }

  static void write(Path directory) throws IOException {
    Storage storage = LocalStorage.at(directory.resolve("table"));
    ShardSummary raw = writeShard(storage, RAW_SHARD, RAW, Checksum.CRC32C);
    ShardSummary compressed = writeShard(storage, COMPRESSED_SHARD, COMPRESSED, Checksum.CRC32C);
    ManifestLog log = new ManifestLog(storage);
    int nextFieldId = RAW.fields().size() + 1;
    log.publish(new Manifest(
        TABLE,
        0,
        new UUID(0x6666_6666_6666_4666L, 0x8666_6666_6666_6666L),
        1_790_000_000_000L,
        "create",
        Map.of(),
        nextFieldId,
        RAW,
        List.of(),
        List.of(raw),
        Map.of()));
    storage.publish(LIST, ShardListFile.writeFile(List.of(raw, raw)));
    List<FieldSpec> all = new ArrayList<>(RAW.fields());
    all.addAll(COMPRESSED.fields());
    log.publish(new Manifest(
        TABLE,
        1,
        new UUID(0x7777_7777_7777_4777L, 0x8777_7777_7777_7777L),
        1_790_000_000_001L,
        "append",
        Map.of("applicationId", "golden \"1\""),
        nextFieldId + COMPRESSED.fields().size(),
        new RecordSchema(all),
        List.of(new ShardListFile(LIST, 2, 2 * raw.length())),
        List.of(compressed),
        Map.of("job-a", 17L)));

    Storage temporary = LocalStorage.at(directory.resolve("temporary"));
    ShardSummary alone = writeShard(temporary, SHARD_ALONE, RAW, Checksum.NONE);
    Files.move(
        directory.resolve("temporary").resolve(alone.directory()), directory.resolve("shard"));
    temporary.delete("shard");
    Files.delete(directory.resolve("temporary"));
  }

  private static ShardSummary writeShard(
      Storage storage, UUID id, RecordSchema schema, Checksum checksum) {
    WriteOptions options = WriteOptions.defaults()
        .withChunkRecords(16)
        .withStripeBytes(1 << 16)
        .withChecksum(checksum)
        .withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, id, schema, options)) {
      for (int i = 0; i < RECORDS; i++) {
        for (int field = 0; field < schema.fields().size(); field++) {
          Optional<byte[]> value = value(schema.fields().get(field), i);
          if (value.isPresent()) {
            writer.put(field, value.get(), 0, value.get().length);
          }
        }
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }
}
