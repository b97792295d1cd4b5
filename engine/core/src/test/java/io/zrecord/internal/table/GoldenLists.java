package io.zrecord.internal.table;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.zrecord.schema.Declarations;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.PartitionText;
import io.zrecord.table.write.ShardWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The golden table of five partitions: two shards are in lists that a list of lists names, two in a
 * list, and one in the manifest. Record <i>i</i> has the {@code value} <i>i</i>, and each shard has
 * three records.
 */
final class GoldenLists {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2-lists");
  static final int SHARD_RECORDS = 3;

  /** The partition of each shard: its day and its kind. */
  static final List<List<@Nullable String>> PARTITIONS = List.of(
      List.of("1969-12-31", "a"),
      List.of("2026-01-02", "\"é\"\n"),
      Arrays.asList("2026-01-02", null),
      Arrays.asList(null, ""),
      List.of("9999-12-31", "b"));

  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("value", ElementType.I32)
      .field("day", ElementType.DATE)
      .field("kind", ElementType.UTF8)
      .build();
  private static final List<Integer> PARTITION_FIELDS = List.of(2, 3);
  private static final UUID COMMIT = uuid(0x51);

  private GoldenLists() {}

  /** Writes the table to a directory that does not exist. */
  public static void main(String[] arguments) {
    write(Path.of(arguments[0]));
  }

  static void write(Path directory) {
    Storage storage = LocalStorage.at(directory);
    List<ShardSummary> shards = new ArrayList<>();
    for (int i = 0; i < PARTITIONS.size(); i++) {
      shards.add(writeShard(storage, i));
    }
    ShardListFile first = list(storage, 1, shards.subList(0, 1));
    ShardListFile second = list(storage, 2, shards.subList(1, 2));
    byte[] content = ShardListFile.writeLists(List.of(first, second));
    String name = listName(3);
    storage.publish(name, content);
    Manifest manifest = new Manifest(
        new Manifest.Head(
            uuid(0x61),
            0,
            COMMIT,
            Optional.empty(),
            OptionalLong.empty(),
            1_790_000_000_000L,
            "create",
            Map.of()),
        SCHEMA,
        PARTITION_FIELDS,
        Declarations.NONE,
        4,
        List.of(
            ShardListFile.ofLists(name, List.of(first, second), content),
            list(storage, 4, shards.subList(2, 4))),
        shards.subList(4, 5),
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(new RecordsVersion(0, COMMIT), 0, List.of()));
    new ManifestLog(storage).publish(manifest);
  }

  private static ShardListFile list(Storage storage, int number, List<ShardSummary> shards) {
    byte[] content = ShardListFile.writeFile(shards);
    storage.publish(listName(number), content);
    return ShardListFile.of(listName(number), shards, content);
  }

  private static String listName(int number) {
    return "list/" + uuid(0x70 + number) + ".json";
  }

  private static UUID uuid(int number) {
    return new UUID(0x4000L | (long) number << 32, 0x8000_0000_0000_0000L | (long) number << 8);
  }

  private static ShardSummary writeShard(Storage storage, int number) {
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    List<@Nullable String> partition = PARTITIONS.get(number);
    try (ShardWriter writer = ShardWriter.create(
        storage, uuid(number + 1), SCHEMA, options, PARTITION_FIELDS, partition)) {
      for (int i = 0; i < SHARD_RECORDS; i++) {
        writer.putInt(0, SHARD_RECORDS * number + i);
        String day = partition.get(0);
        if (day != null) {
          byte[] days = PartitionText.parse(SCHEMA.fields().get(1), day);
          writer.putInt(1, ByteBuffer.wrap(days).order(ByteOrder.LITTLE_ENDIAN).getInt());
        }
        String kind = partition.get(1);
        if (kind != null) {
          byte[] text = kind.getBytes(UTF_8);
          writer.put(2, text, 0, text.length);
        }
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }
}
