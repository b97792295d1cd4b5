package io.zrecord.internal.table;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.IndexMap;
import io.zrecord.table.ShardWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The table under {@code golden/v1-index-map}: two versions, of which the second has the records of
 * the first backwards, and an index map. As with {@link GoldenDataset}, its files were written
 * once, by {@link #main}, and are never written again.
 */
final class GoldenIndexMap {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v1-index-map");
  static final int RECORDS = 10;

  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.I64).build();

  private GoldenIndexMap() {}

  /** Writes the table to a directory that does not exist. */
  public static void main(String[] arguments) {
    write(Path.of(arguments[0]));
  }

  static void write(Path directory) {
    Storage storage = LocalStorage.at(directory);
    ManifestLog log = new ManifestLog(storage);
    long[] forwards = new long[RECORDS];
    long[] backwards = new long[RECORDS];
    for (int i = 0; i < RECORDS; i++) {
      forwards[i] = i;
      backwards[RECORDS - 1 - i] = i;
    }
    ShardSummary before = writeShard(storage, uuid(1), SCHEMA, forwards);
    ShardSummary after = writeShard(storage, uuid(2), SCHEMA, backwards);
    ShardSummary map = writeShard(storage, uuid(3), IndexMap.SCHEMA, backwards);
    log.publish(manifest(0, "create", before, Optional.empty()));
    log.publish(manifest(1, "relayout", after, Optional.of(map)));
  }

  private static UUID uuid(int number) {
    return new UUID(0x1111_1111_1111_4111L * number, 0x8111_1111_1111_1111L);
  }

  private static Manifest manifest(
      long version, String operation, ShardSummary shard, Optional<ShardSummary> map) {
    return new Manifest(
        uuid(4),
        version,
        uuid((int) (5 + version)),
        1_790_000_000_000L + version,
        operation,
        Map.of(),
        2,
        SCHEMA,
        List.of(),
        List.of(shard),
        Map.of(),
        map);
  }

  private static ShardSummary writeShard(
      Storage storage, UUID id, RecordSchema schema, long[] values) {
    WriteOptions options =
        WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, id, schema, options)) {
      for (long value : values) {
        writer.putLong(0, value);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }
}
