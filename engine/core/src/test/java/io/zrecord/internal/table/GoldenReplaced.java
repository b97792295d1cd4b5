package io.zrecord.internal.table;

import static java.nio.charset.StandardCharsets.UTF_8;

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
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The golden table of replaced shards. Version 0 has the shards 0 to 2 in a list, 3 and 4 in the
 * first and 7 and 8 in the second list of a list of lists, and 9 itself. In version 1, the shard 1
 * is deleted, and 5 and 6 have the records of 4. They stand in a list of lists. Above that, the
 * manifest puts 10, which has a new text and lacks the other field, in the place of 6, and deletes
 * 7 and 8, so that a list is left without shards.
 */
final class GoldenReplaced {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2-replaced");

  /** The texts of each shard. */
  static final List<List<String>> TEXTS = List.of(
      List.of("a", "b"),
      List.of("c"),
      List.of("d", "e", "f"),
      List.of("g"),
      List.of("h", "i"),
      List.of("h"),
      List.of("i"),
      List.of("j", "k"),
      List.of("l"),
      List.of("m", "n"),
      List.of("new"));

  private static final int WITHOUT_NUMBER = 10;

  /** The shards of each version, in order. */
  static final List<List<Integer>> VERSIONS =
      List.of(List.of(0, 1, 2, 3, 4, 7, 8, 9), List.of(0, 2, 3, 5, 10, 9));

  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("text", ElementType.UTF8)
      .field("number", ElementType.I32)
      .build();

  private GoldenReplaced() {}

  /** Writes the table, and the file of values beside it, into a directory without them. */
  public static void main(String[] arguments) throws IOException {
    Path directory = Path.of(arguments[0]);
    write(directory.resolve("v2-replaced"));
    Files.writeString(directory.resolve("v2-replaced-values.json"), values());
  }

  static void write(Path directory) {
    Storage storage = LocalStorage.at(directory);
    List<ShardSummary> shards =
        IntStream.range(0, TEXTS.size()).mapToObj(i -> writeShard(storage, i)).toList();
    ShardListFile first = list(storage, 1, shards.subList(0, 3));
    ShardListFile second = list(storage, 2, shards.subList(3, 5));
    ShardListFile third = list(storage, 3, shards.subList(7, 9));
    List<ShardSummary> own = shards.subList(9, 10);
    Manifest before =
        manifest(List.of(first, ofLists(storage, 4, List.of(second, third))), own, null);
    ManifestLog log = new ManifestLog(storage);
    log.publish(before);
    ShardListFile split = second.then(replaced(new ReplacedShard(1, 2, shards.subList(5, 7))));
    ShardListFile ofLists = ofLists(storage, 5, List.of(split, third));
    ShardListFile above = ofLists.then(replaced(
        new ReplacedShard(2, 1, shards.subList(10, 11)),
        new ReplacedShard(3, 2, List.of()),
        new ReplacedShard(4, 1, List.of())));
    ShardListFile deleted = first.then(replaced(new ReplacedShard(1, 1, List.of())));
    log.publish(manifest(List.of(deleted, above), own, before));
  }

  private static ReplacedShards replaced(ReplacedShard... inOrder) {
    return new ReplacedShards(List.of(inOrder));
  }

  private static Manifest manifest(
      List<ShardListFile> lists, List<ShardSummary> shards, @Nullable Manifest before) {
    int version = before == null ? 0 : 1;
    UUID commit = uuid(0x80 + version);
    return new Manifest(
        new Manifest.Head(
            uuid(0x60),
            version,
            commit,
            Optional.ofNullable(before).map(Manifest::commitId),
            before == null ? OptionalLong.empty() : OptionalLong.of(0),
            1_790_000_000_000L + version,
            before == null ? "create" : "update",
            before == null ? Map.of() : Map.of("rewrittenShards", "1")),
        SCHEMA,
        3,
        lists,
        shards,
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(new RecordsVersion(version, commit), 0, List.of()));
  }

  private static ShardListFile list(Storage storage, int number, List<ShardSummary> shards) {
    byte[] content = ShardListFile.writeFile(shards);
    storage.publish(listName(number), content);
    return ShardListFile.of(listName(number), shards, content);
  }

  private static ShardListFile ofLists(Storage storage, int number, List<ShardListFile> lists) {
    byte[] content = ShardListFile.writeLists(lists);
    storage.publish(listName(number), content);
    return ShardListFile.ofLists(listName(number), lists, content);
  }

  private static String listName(int number) {
    return "list/" + uuid(0x70 + number) + ".json";
  }

  private static UUID uuid(int number) {
    return new UUID(0x4000L | (long) number << 32, 0x8000_0000_0000_0000L | (long) number << 8);
  }

  private static ShardSummary writeShard(Storage storage, int number) {
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    RecordSchema schema = number == WITHOUT_NUMBER
        ? RecordSchema.builder().field("text", ElementType.UTF8).build()
        : SCHEMA;
    try (ShardWriter writer = ShardWriter.create(storage, uuid(number + 1), schema, options)) {
      for (String text : TEXTS.get(number)) {
        byte[] bytes = text.getBytes(UTF_8);
        writer.put(0, bytes, 0, bytes.length);
        if (number != WITHOUT_NUMBER) {
          writer.putInt(1, numberOf(text));
        }
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private static int numberOf(String text) {
    return text.charAt(0);
  }

  /** Returns what readers in all languages are tested with. */
  static String values() {
    List<String> texts = new ArrayList<>();
    List<String> numbers = new ArrayList<>();
    for (int shard : VERSIONS.get(1)) {
      for (String text : TEXTS.get(shard)) {
        byte[] number = ByteBuffer.allocate(4)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(numberOf(text))
            .array();
        texts.add(quoted(text.getBytes(UTF_8)));
        numbers.add(shard == WITHOUT_NUMBER ? "null" : quoted(number));
      }
    }
    return "{\n\"dataset\": \"v2-replaced\",\n\"version\": 1,\n\"records\": "
        + IntStream.range(0, texts.size()).boxed().toList() + ",\n\"values\": {\n\"text\": " + texts
        + ",\n\"number\": " + numbers + "\n}\n}\n";
  }

  private static String quoted(byte[] value) {
    return '"' + HexFormat.of().formatHex(value) + '"';
  }
}
