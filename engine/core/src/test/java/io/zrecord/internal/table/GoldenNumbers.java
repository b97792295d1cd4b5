package io.zrecord.internal.table;

import io.zrecord.internal.shard.write.Patches;
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
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The table under {@code golden/v2-numbers}: eight numbers in a compressed block, and three with
 * entries, as a store leaves them, so few that FORMAT.md shows the files. Version 1 deletes one of
 * the three, and changes another. As with {@link GoldenDataset}, the files are written by
 * {@link #main}, and from the freeze of format 2 on never again.
 */
final class GoldenNumbers {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2-numbers");
  static final List<@Nullable Integer> FIRST = Collections.unmodifiableList(
      Arrays.asList(1000, 1003, 1006, 1009, 1012, 1015, 1018, 1021, 5, null, 7));
  static final List<@Nullable Integer> SECOND = Collections.unmodifiableList(
      Arrays.asList(1000, 1003, 1006, 1009, 1012, 1015, 1018, 1021, null, 8));

  private static final int IN_BLOCK = 8;
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I32, Shape.scalar(), Compression.parse("flate:6"))
      .build();

  private GoldenNumbers() {}

  /** Writes the table to a directory that does not exist. */
  public static void main(String[] arguments) {
    write(Path.of(arguments[0]));
  }

  static void write(Path directory) {
    Storage storage = LocalStorage.at(directory);
    RecordSchema raw = new RecordSchema(List.of(field().withCompression(Compression.RAW)));
    ShardSummary blocks = writeBlock(storage);
    ShardSummary entries = GoldenEntries.write(
        storage, uuid(2), raw, FIRST.size() - IN_BLOCK, (field, i) -> number(IN_BLOCK + i));
    ManifestLog log = new ManifestLog(storage);
    log.publish(manifest(0, "create", List.of(blocks, entries)));
    ShardSummary patched = Patches.write(
        storage,
        entries,
        uuid(3),
        uuid(4),
        new long[] {0},
        Map.of(field(), new TreeMap<>(Map.of(2L, bytes(8)))));
    log.publish(manifest(1, "update", List.of(blocks, patched)));
  }

  private static FieldSpec field() {
    return SCHEMA.fields().get(0);
  }

  private static Optional<byte[]> number(int index) {
    return Optional.ofNullable(FIRST.get(index)).map(GoldenNumbers::bytes);
  }

  private static byte[] bytes(int number) {
    return ByteBuffer.allocate(Integer.BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(number)
        .array();
  }

  private static ShardSummary writeBlock(Storage storage) {
    WriteOptions options = WriteOptions.defaults()
        .withStripeBytes(1 << 16)
        .withTransform(Transform.DELTA)
        .withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, uuid(1), SCHEMA, options)) {
      for (int i = 0; i < IN_BLOCK; i++) {
        writer.putInt(0, FIRST.get(i));
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private static Manifest manifest(int version, String operation, List<ShardSummary> shards) {
    UUID commit = uuid(6 + version);
    return new Manifest(
        new Manifest.Head(
            uuid(5),
            version,
            commit,
            version == 0 ? Optional.empty() : Optional.of(uuid(5 + version)),
            version == 0 ? OptionalLong.empty() : OptionalLong.of(version - 1),
            1_790_000_000_000L + version,
            operation,
            Map.of()),
        SCHEMA,
        2,
        List.of(),
        shards,
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(new RecordsVersion(version, commit), 0, List.of()));
  }

  private static UUID uuid(int number) {
    return new UUID(0x1111_1111_1111_4111L * number, 0x8111_1111_1111_1111L);
  }
}
