package io.zrecord.internal.table;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.zrecord.internal.shard.write.Patches;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
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
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The table under {@code golden/v2-moved}, which is partitioned by {@code kind}. Version 0 has the
 * records 0 to 19 in partition a, and 20 to 24 in b. Version 1 deletes some of the first. Version 2
 * moves some of both to a shard of c, adds record 100 there, and says wrongly of it that it was a
 * record which is still there. Version 3 moves one of them, and all that are left in b, to d.
 *
 * <p>The files in the repository are written by {@link #main}, like those of {@link GoldenDataset}.
 */
final class GoldenMoves {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2-moved");
  static final Path MOVES = Path.of("src/test/resources/golden/v2-moved-moves.json");
  static final int NEWEST = 3;
  static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I64)
      .field("kind", ElementType.UTF8)
      .build();
  private static final List<Integer> PARTITIONS = List.of(2);
  private static final List<Long> DELETED = List.of(3L, 4L, 10L);
  private static final List<Long> MOVED_OF_A = List.of(5L, 2L, 19L);
  private static final List<Long> MOVED_OF_B = List.of(23L);
  private static final List<Long> MOVED_AGAIN = List.of(2L);
  private static final List<Long> MOVED_LAST = List.of(20L, 21L, 22L, 24L);

  private GoldenMoves() {}

  /** A record: its number, and its partition. */
  record Item(long number, String kind) {}

  /** Writes the table, and the files beside it, into a directory without them. */
  public static void main(String[] arguments) throws IOException {
    Path directory = Path.of(arguments[0]);
    write(directory.resolve("v2-moved"));
    Files.writeString(directory.resolve("v2-moved-values.json"), values());
    Files.writeString(directory.resolve("v2-moved-moves.json"), moves());
  }

  /** Returns the records of a version in order. */
  static List<Item> items(int version) {
    List<Item> items = new ArrayList<>();
    for (long number = 0; number < 25; number++) {
      items.add(new Item(number, number < 20 ? "a" : "b"));
    }
    if (version >= 1) {
      items.removeIf(item -> DELETED.contains(item.number));
    }
    if (version >= 2) {
      move(items, MOVED_OF_A, "c");
      move(items, MOVED_OF_B, "c");
      items.add(new Item(100, "c"));
    }
    if (version >= 3) {
      move(items, MOVED_AGAIN, "d");
      move(items, MOVED_LAST, "d");
    }
    return items;
  }

  private static void move(List<Item> items, List<Long> numbers, String kind) {
    items.removeIf(item -> numbers.contains(item.number));
    numbers.forEach(number -> items.add(new Item(number, kind)));
  }

  /** Returns the index before and the index after of each record that a version moves. */
  static List<List<Integer>> pairs(int version) {
    List<Long> before = items(version - 1).stream().map(Item::number).toList();
    List<Item> after = items(version);
    return IntStream.range(0, after.size())
        .filter(i -> after.get(i).number < 100 && !items(version - 1).contains(after.get(i)))
        .mapToObj(i -> List.of(before.indexOf(after.get(i).number), i))
        .toList();
  }

  static void write(Path directory) {
    Storage storage = LocalStorage.at(directory);
    ManifestLog log = new ManifestLog(storage);
    ShardSummary a = shard(storage, 1, "a", LongStream.range(0, 20));
    ShardSummary b = shard(storage, 2, "b", LongStream.range(20, 25));
    log.publish(manifest(0, "create", List.of(a, b)));
    a = without(storage, a, 10, DELETED);
    log.publish(manifest(1, "delete", List.of(a, b)));
    ShardSummary c;
    try (ShardWriter writer = writer(storage, 3, "c")) {
      // In the shard of the first partition the slot of a record is its number.
      MOVED_OF_A.forEach(number -> moved(writer, uuid(1), number, number, "c"));
      MOVED_OF_B.forEach(number -> moved(writer, uuid(2), number - 20, number, "c"));
      moved(writer, uuid(1), 7, 100, "c");
      c = writer.finish().orElseThrow();
    }
    a = without(storage, a, 20, MOVED_OF_A.stream().sorted().toList());
    b = without(storage, b, 30, MOVED_OF_B.stream().map(number -> number - 20).toList());
    log.publish(manifest(2, "merge", List.of(a, b, c)));
    ShardSummary d;
    try (ShardWriter writer = writer(storage, 4, "d")) {
      MOVED_AGAIN.forEach(
          number -> moved(writer, uuid(3), MOVED_OF_A.indexOf(number), number, "d"));
      MOVED_LAST.forEach(number -> moved(writer, uuid(2), number - 20, number, "d"));
      d = writer.finish().orElseThrow();
    }
    c = without(
        storage,
        c,
        40,
        MOVED_AGAIN.stream().map(n -> (long) MOVED_OF_A.indexOf(n)).toList());
    log.publish(manifest(NEWEST, "merge", List.of(a, c, d)));
  }

  private static ShardWriter writer(Storage storage, int number, String kind) {
    WriteOptions options =
        WriteOptions.defaults().withStripeBytes(1 << 20).withDurability(Durability.NONE);
    return ShardWriter.create(storage, uuid(number), SCHEMA, options, PARTITIONS, List.of(kind));
  }

  private static ShardSummary shard(Storage storage, int number, String kind, LongStream numbers) {
    try (ShardWriter writer = writer(storage, number, kind)) {
      numbers.forEach(record -> put(writer, record, kind));
      return writer.finish().orElseThrow();
    }
  }

  private static void moved(ShardWriter writer, UUID shard, long slot, long number, String kind) {
    writer.movedFrom(shard, slot);
    put(writer, number, kind);
  }

  private static void put(ShardWriter writer, long number, String kind) {
    writer.putLong(0, number);
    writer.put(1, kind.getBytes(UTF_8), 0, kind.length());
    writer.endRecord();
  }

  private static ShardSummary without(
      Storage storage, ShardSummary shard, int number, List<Long> slots) {
    long[] deleted = slots.stream().mapToLong(Long::longValue).toArray();
    return Patches.write(storage, shard, uuid(number), uuid(number + 1), deleted, Map.of());
  }

  private static Manifest manifest(int version, String operation, List<ShardSummary> shards) {
    return new Manifest(
        new Manifest.Head(
            uuid(100),
            version,
            uuid(101 + version),
            version == 0 ? Optional.empty() : Optional.of(uuid(100 + version)),
            version == 0 ? OptionalLong.empty() : OptionalLong.of(version - 1),
            1_790_000_000_000L + version,
            operation,
            Map.of()),
        SCHEMA,
        PARTITIONS,
        Declarations.NONE,
        3,
        List.of(),
        shards,
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(new RecordsVersion(version, uuid(101 + version)), 0, List.of()));
  }

  private static UUID uuid(int number) {
    return new UUID(0x4000L | (long) number << 32, 0x8000_0000_0000_0000L | (long) number << 16);
  }

  private static String values() {
    return "{\n\"dataset\": \"v2-moved\",\n\"version\": " + NEWEST + ",\n\"records\": "
        + IntStream.range(0, items(NEWEST).size()).boxed().toList() + ",\n\"values\": {\n"
        + "\"number\": " + hex(item -> bytes(item.number)) + ",\n"
        + "\"kind\": " + hex(item -> item.kind.getBytes(UTF_8)) + "\n}\n}\n";
  }

  private static byte[] bytes(long value) {
    return ByteBuffer.allocate(Long.BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(value)
        .array();
  }

  private static List<String> hex(Function<Item, byte[]> value) {
    return items(NEWEST).stream()
        .map(item -> '"' + HexFormat.of().formatHex(value.apply(item)) + '"')
        .toList();
  }

  /** Returns what the new shards say, and which records are pairs by that. */
  private static String moves() {
    return """
        {
        "2": {"shard": "%s", "shards": ["%s", "%s"],
        "slots": [0, 1, 2, 3, 4], "places": [[5, 0], [2, 0], [19, 0], [3, 1], [7, 0]],
        "pairs": %s},
        "3": {"shard": "%s", "shards": ["%s", "%s"],
        "slots": [0, 1, 2, 3, 4], "places": [[1, 0], [0, 1], [1, 1], [2, 1], [4, 1]],
        "pairs": %s}
        }
        """.formatted(uuid(3), uuid(1), uuid(2), pairs(2), uuid(4), uuid(3), uuid(2), pairs(3));
  }
}
