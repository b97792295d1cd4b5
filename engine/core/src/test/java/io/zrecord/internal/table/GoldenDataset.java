package io.zrecord.internal.table;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
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
import io.zrecord.table.write.ShardWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * The datasets under {@code golden/v2}: every dtype and codec, absent and empty values, a shard
 * list, a tag of a version that was expired, a table without checksums of values, and one whose
 * values a store left. Their values are formulas of field and index.
 *
 * <p>The files in the repository are written by {@link #main}. From the freeze of format 2 on they
 * are never written again, because they represent the datasets that users have. A change of the
 * format then adds a directory beside them.
 */
final class GoldenDataset {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2");
  static final int RECORDS = 40;
  static final UUID RAW_SHARD = new UUID(0x1111_1111_1111_4111L, 0x8111_1111_1111_1111L);
  static final UUID COMPRESSED_SHARD = new UUID(0x2222_2222_2222_4222L, 0x8222_2222_2222_2222L);
  static final UUID UNCHECKED_SHARD = new UUID(0x3333_3333_3333_4333L, 0x8333_3333_3333_3333L);
  static final UUID SECOND_RAW_SHARD = new UUID(0x9999_9999_9999_4999L, 0x8999_9999_9999_9999L);
  static final UUID ENTRY_SHARD = new UUID(0x7777_7777_7777_4777L, 0x8777_7777_7777_7777L);
  static final RecordSchema RAW = raw();
  static final RecordSchema COMPRESSED = compressed();

  private static final UUID TABLE = new UUID(0x4444_4444_4444_4444L, 0x8444_4444_4444_4444L);
  private static final String LIST = "list/55555555-5555-4555-8555-555555555555.json";
  private static final String COPY = "tag/88888888-8888-4888-8888-888888888888.json";
  private static final long FIRST_MILLIS = 1_790_000_000_000L;

  private GoldenDataset() {}

  /** Writes the datasets below a directory that does not exist. */
  public static void main(String[] arguments) throws IOException {
    write(Path.of(arguments[0]));
  }

  private static RecordSchema raw() {
    RecordSchema.Builder builder = RecordSchema.builder();
    for (ElementType.Kind kind : ElementType.Kind.values()) {
      if (kind != ElementType.Kind.DECIMAL && kind != ElementType.Kind.NESTED) {
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
        // Longer than a block and, from the last record on, in a second chunk.
        .field("wide", ElementType.U8, Shape.of(1_700), Compression.RAW)
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
    ShardSummary secondRaw = writeShard(storage, SECOND_RAW_SHARD, RAW, Checksum.CRC32C);
    byte[] list = ShardListFile.writeFile(List.of(raw, secondRaw));
    storage.publish(LIST, list);
    List<FieldSpec> all = new ArrayList<>(RAW.fields());
    all.addAll(COMPRESSED.fields());
    Contents first = new Contents(RAW, RAW.fields().size() + 1, List.of(), List.of(raw), Map.of());
    Contents second = new Contents(
        new RecordSchema(all),
        all.size() + 1,
        List.of(ShardListFile.of(LIST, List.of(raw, secondRaw), list)),
        List.of(compressed),
        Map.of("job-a", 17L));
    Map<String, String> properties = Map.of("applicationId", "golden \"1\"");
    ManifestLog log = new ManifestLog(storage);
    log.publish(manifest(0, "create", Map.of(), first, 0, 0, List.of()));
    log.publish(manifest(1, "append", properties, second, 1, 0, List.of()));
    List<TagEntry> tags = List.of(tag(storage, "first", 0, COPY, FIRST_MILLIS + 2));
    Manifest tagged = manifest(2, "tag", Map.of(), second, 1, 0, tags);
    log.publish(tagged);
    log.leaveHint(tagged);
    log.publish(manifest(3, "expire", Map.of(), second, 1, 1, tags));
    storage.delete(ManifestNames.nameOf(0));

    Storage other = LocalStorage.at(directory.resolve("unchecked"));
    ShardSummary unchecked = writeShard(other, UNCHECKED_SHARD, RAW, Checksum.NONE);
    Contents only =
        new Contents(first.schema, first.nextFieldId, List.of(), List.of(unchecked), Map.of());
    new ManifestLog(other).publish(manifest(0, "create", Map.of(), only, 0, 0, List.of()));

    Storage third = LocalStorage.at(directory.resolve("entries"));
    ShardSummary left = GoldenEntries.write(third, ENTRY_SHARD, RAW, RECORDS);
    Contents ofStore =
        new Contents(first.schema, first.nextFieldId, List.of(), List.of(left), Map.of());
    new ManifestLog(third).publish(manifest(0, "create", Map.of(), ofStore, 0, 0, List.of()));
  }

  /** What versions with the same records share. */
  private record Contents(
      RecordSchema schema,
      int nextFieldId,
      List<ShardListFile> lists,
      List<ShardSummary> shards,
      Map<String, Long> transactions) {}

  private static Manifest manifest(
      long version,
      String operation,
      Map<String, String> properties,
      Contents contents,
      long records,
      long oldest,
      List<TagEntry> tags) {
    return new Manifest(
        new Manifest.Head(
            TABLE,
            version,
            commit(version),
            version == 0 ? Optional.empty() : Optional.of(commit(version - 1)),
            version == 0 ? OptionalLong.empty() : OptionalLong.of(version - 1),
            FIRST_MILLIS + version,
            operation,
            properties),
        contents.schema,
        contents.nextFieldId,
        contents.lists,
        contents.shards,
        contents.transactions,
        Optional.empty(),
        new Manifest.Retention(new RecordsVersion(records, commit(records)), oldest, tags));
  }

  private static UUID commit(long version) {
    long digit = 6 + version;
    return new UUID(0x1111_1111_1111_0111L * digit + 0x4000, 0x8111_1111_1111_1111L);
  }

  /** Copies the manifest of a version for a tag. */
  static TagEntry tag(Storage storage, String name, long version, String file, long nowMillis) {
    byte[] content = storage.read(ManifestNames.nameOf(version), SealedJson.MAX_BYTES);
    storage.publish(file, content);
    // The seal is {"crc32c":"01234567"} and a line feed at the end.
    String seal = new String(content, content.length - 11, 8, UTF_8);
    return new TagEntry(
        name, version, nowMillis, file, content.length, HexFormat.fromHexDigits(seal));
  }

  private static ShardSummary writeShard(
      Storage storage, UUID id, RecordSchema schema, Checksum checksum) {
    WriteOptions options = WriteOptions.defaults()
        .withChunkBytes(1 << 16)
        .withStripeBytes(1 << 20)
        .withBlockBytes(0)
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
