package io.zrecord.internal.table;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.IndexMap;
import io.zrecord.table.write.ShardWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * The table under {@code golden/v2-index-map}: two versions, of which the second has each three
 * records of the first in the order 2, 0, 1, and an index map. A map that is read the wrong way
 * round leads elsewhere. As with {@link GoldenDataset}, its files are written by {@link #main}, and
 * from the freeze of format 2 on never again.
 */
final class GoldenIndexMap {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2-index-map");
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
    long[] values = new long[RECORDS];
    long[] moved = new long[RECORDS];
    long[] newIndices = new long[RECORDS];
    for (int i = 0; i < RECORDS; i++) {
      values[i] = i;
      newIndices[i] = newIndex(i);
      moved[newIndex(i)] = i;
    }
    ShardSummary before = writeShard(storage, uuid(1), SCHEMA, values);
    ShardSummary after = writeShard(storage, uuid(2), SCHEMA, moved);
    ShardSummary map = writeShard(storage, uuid(3), IndexMap.SCHEMA, newIndices);
    log.publish(manifest(0, "create", before, Optional.empty()));
    log.publish(manifest(1, "relayout", after, Optional.of(map)));
  }

  /** Returns where a record went: 0 to 1, 1 to 2, 2 to 0, and so on. The last one stays. */
  static int newIndex(int index) {
    return index == RECORDS - 1 ? index : index - index % 3 + (index + 1) % 3;
  }

  private static UUID uuid(int number) {
    return new UUID(0x1111_1111_1111_4111L * number, 0x8111_1111_1111_1111L);
  }

  private static Manifest manifest(
      long version, String operation, ShardSummary shard, Optional<ShardSummary> map) {
    UUID commit = uuid((int) (5 + version));
    return new Manifest(
        new Manifest.Head(
            uuid(4),
            version,
            commit,
            version == 0 ? Optional.empty() : Optional.of(uuid((int) (4 + version))),
            version == 0 ? OptionalLong.empty() : OptionalLong.of(version - 1),
            1_790_000_000_000L + version,
            operation,
            Map.of()),
        SCHEMA,
        2,
        List.of(),
        List.of(shard),
        Map.of(),
        map,
        new Manifest.Retention(new RecordsVersion(version, commit), 0, List.of()));
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
