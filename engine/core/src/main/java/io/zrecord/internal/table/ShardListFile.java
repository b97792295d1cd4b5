package io.zrecord.internal.table;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Features;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.shard.ShardSummary;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * A file that lists older shards, or lists of them, so that a manifest need not repeat them.
 *
 * @param file name relative to the table
 * @param level 1 for a list of shards, 2 for a list of lists of shards
 * @param shardCount number of shards after those of the file, or of its lists, were replaced
 * @param length sum of the lengths of these shards
 * @param lengthBytes length of the file
 * @param checksum value of the file's seal
 * @param replaced shards of the file, or of its lists, in whose place others stand
 * @param unknown members of the manifest's entry that this release does not know, as JSON
 */
public record ShardListFile(
    String file,
    int level,
    int shardCount,
    long length,
    int lengthBytes,
    int checksum,
    ReplacedShards replaced,
    String unknown) {
  private static final Pattern FILE = Pattern.compile("list/[0-9a-f-]{36}\\.json");

  private static final Set<String> MEMBERS =
      Set.of("file", "level", "shards", "length", "bytes", "crc", "replaced");

  ObjectNode write(FieldSets fieldSets) {
    ObjectNode node = SealedJson.object().put("file", file);
    if (isOfLists()) {
      node.put("level", level);
    }
    node.put("shards", shardCount)
        .put("length", length)
        .put("bytes", lengthBytes)
        .put("crc", HexFormat.of().toHexDigits(checksum));
    replaced.write(node, fieldSets);
    return JsonObject.withMembers(node, unknown);
  }

  static ShardListFile read(JsonObject json, FieldSets fieldSets) {
    String file = json.string("file");
    if (!FILE.matcher(file).matches()) {
      throw json.corrupt("'" + file + "' is not allowed as the name of a shard list");
    }
    ShardListFile list = new ShardListFile(
        file,
        json.optionalInteger("level", 1, 2).orElse(1),
        (int) json.integer("shards", 1, Integer.MAX_VALUE),
        json.integer("length", 1, Long.MAX_VALUE),
        (int) json.integer("bytes", 1, SealedJson.MAX_BYTES),
        json.checksum("crc"),
        ReplacedShards.read(json, fieldSets),
        json.unknown(MEMBERS));
    if (!list.replaced.isEmpty()) {
      list.requireReplaceable(json);
    }
    return list;
  }

  /** Requires that the file has the shards that are replaced. */
  private void requireReplaceable(JsonObject json) {
    try {
      long shardsOfFile = (long) shardCount - replaced.addedShards();
      long lengthOfFile = Math.subtractExact(length, replaced.addedRecords());
      if (shardsOfFile < 1 || shardsOfFile > Integer.MAX_VALUE || lengthOfFile < shardsOfFile) {
        throw json.corrupt("list " + file + " would have " + shardsOfFile + " shards with "
            + lengthOfFile + " records if none was replaced");
      }
      replaced.requireBelow(json, shardsOfFile);
    } catch (ArithmeticException e) {
      throw json.corrupt("the replaced shards of " + file + " have more than 2^63 records");
    }
  }

  /** Returns how many shards the file leads to itself. */
  private int shardsOfFile() {
    return shardCount - replaced.addedShards();
  }

  private long lengthOfFile() {
    return length - replaced.addedRecords();
  }

  /** Returns this as its file has it. */
  public ShardListFile unreplaced() {
    return withReplaced(shardsOfFile(), lengthOfFile(), ReplacedShards.NONE);
  }

  /**
   * Returns this with shards replaced among those that stand in it now.
   *
   * @throws CorruptDataException if {@code later} is not about these shards
   */
  public ShardListFile then(ReplacedShards later) {
    if (later.isEmpty()) {
      return this;
    }
    try {
      int shards = shardCount + later.addedShards();
      long records = Math.addExact(length, later.addedRecords());
      if (records >= shards && (shards > 0 || records == 0)) {
        return withReplaced(shards, records, replaced.then(file, later));
      }
    } catch (ArithmeticException e) {
      // Reported below.
    }
    throw ReplacedShards.corrupt(file, "what is replaced in it has more records than it has");
  }

  private ShardListFile withReplaced(int shards, long records, ReplacedShards others) {
    return new ShardListFile(file, level, shards, records, lengthBytes, checksum, others, unknown);
  }

  /** Tells whether few enough shards are replaced for the file to stay as it is. */
  public boolean isMostlyUnreplaced(ListLimits limits) {
    long most = (long) shardsOfFile() * limits.replacedPercent() / 100;
    return shardsOfFile() >= limits.shards() / 2 && replaced.weight() <= most;
  }

  /** Tells whether the file lists lists. */
  public boolean isOfLists() {
    return level > 1;
  }

  /**
   * Describes a new file that lists shards.
   *
   * @param content the content, as {@link #writeFile} returns it
   */
  static ShardListFile of(String file, List<ShardSummary> shards, byte[] content) {
    return new ShardListFile(
        file,
        1,
        shards.size(),
        shards.stream().mapToLong(ShardSummary::length).sum(),
        content.length,
        SealedJson.checksum(file, content),
        ReplacedShards.NONE,
        "");
  }

  static byte[] writeFile(List<ShardSummary> shards) {
    ObjectNode node = SealedJson.object().put("format", JsonObject.FORMAT_VERSION);
    ShardJson.writeAll(node, shards, new FieldSets());
    return SealedJson.seal(node);
  }

  /** Describes a new file that lists lists, given its content. */
  static ShardListFile ofLists(String file, List<ShardListFile> lists, byte[] content) {
    return new ShardListFile(
        file,
        2,
        lists.stream().mapToInt(ShardListFile::shardCount).reduce(0, Math::addExact),
        lists.stream().mapToLong(ShardListFile::length).sum(),
        content.length,
        SealedJson.checksum(file, content),
        ReplacedShards.NONE,
        "");
  }

  static byte[] writeLists(List<ShardListFile> lists) {
    ObjectNode node = SealedJson.object().put("format", JsonObject.FORMAT_VERSION);
    FieldSets fieldSets = new FieldSets();
    ArrayNode array = SealedJson.object().putArray("lists");
    lists.forEach(list -> array.add(list.write(fieldSets)));
    if (lists.stream().anyMatch(list -> !list.replaced.isEmpty())) {
      fieldSets.write(node);
    }
    node.set("lists", array);
    return SealedJson.seal(node);
  }

  /** Parses the content of this file, which lists shards, of which none is replaced yet. */
  List<ShardSummary> readFile(String resource, byte[] bytes) {
    requireBound(resource, bytes);
    List<ShardSummary> shards = PlainShards.read(resource, bytes).orElseGet(() -> {
      JsonObject json = SealedJson.open(resource, bytes).requireFormat();
      return ShardJson.readAll(json, FieldSets.read(json));
    });
    requireSums(resource, shards.size(), shards.stream().map(ShardSummary::length));
    return shards;
  }

  /** Parses the content of this file, which lists lists, of whose shards none is replaced yet. */
  List<ShardListFile> readLists(String resource, byte[] bytes) {
    requireBound(resource, bytes);
    JsonObject json = SealedJson.open(resource, bytes).requireFormat();
    FieldSets fieldSets = json.has("fieldSets") ? FieldSets.read(json) : new FieldSets();
    List<ShardListFile> lists =
        json.objects("lists").stream().map(list -> read(list, fieldSets)).toList();
    ReplacedShards.requireOnce(json, lists, List.of());
    if (lists.stream().anyMatch(ShardListFile::isOfLists)) {
      throw json.corrupt("it lists a list of lists, but there are two levels at most");
    }
    requireSums(
        resource,
        lists.stream().mapToLong(ShardListFile::shardCount).sum(),
        lists.stream().map(ShardListFile::length));
    return lists;
  }

  /**
   * Returns the lists that this list of lists leads to, with the shards that it replaces. One whose
   * shards were all deleted has none.
   *
   * @param lists the lists of the file
   */
  public List<ShardListFile> standing(List<ShardListFile> lists) {
    List<ReplacedShards> parts = replaced.ofEach(file, lists);
    return IntStream.range(0, lists.size())
        .mapToObj(i -> lists.get(i).then(parts.get(i)))
        .toList();
  }

  /** Requires the very file that whoever names it means. */
  private void requireBound(String resource, byte[] bytes) {
    int sealed = SealedJson.checksum(resource, bytes);
    if (bytes.length != lengthBytes || sealed != checksum) {
      throw new CorruptDataException(
          resource,
          "Cannot read " + resource + ": it has " + bytes.length + " bytes with checksum "
              + HexFormat.of().toHexDigits(sealed) + ", but the manifest says " + lengthBytes
              + " with " + HexFormat.of().toHexDigits(checksum) + "; restore it from a copy");
    }
  }

  private void requireSums(String resource, long shards, Stream<Long> lengths) {
    if (shards != shardsOfFile() || !sumOf(lengths).equals(OptionalLong.of(lengthOfFile()))) {
      throw new CorruptDataException(
          resource,
          "Cannot read " + resource + ": it has " + shards + " shards, but the manifest says "
              + shardsOfFile() + " with " + lengthOfFile() + " records");
    }
  }

  /**
   * Requires that this release knows what the list needs of programs that change or delete.
   *
   * @throws io.zrecord.errors.UnsupportedFormatException if the list uses an unknown feature
   */
  void requireWritable(String resource, byte[] bytes) {
    Features.obstacle(SealedJson.open(resource, bytes)).ifPresent(obstacle -> {
      throw Features.unwritable(resource, obstacle);
    });
  }

  static long sumOfLengths(JsonObject json, List<ShardSummary> shards) {
    return sumOf(shards.stream().map(ShardSummary::length))
        .orElseThrow(() -> json.corrupt("its shards have more than 2^63 records"));
  }

  /** Returns a sum; empty if it is 2⁶³ or more. */
  private static OptionalLong sumOf(Stream<Long> lengths) {
    try {
      return OptionalLong.of(lengths.mapToLong(Long::longValue).reduce(0, Math::addExact));
    } catch (ArithmeticException e) {
      return OptionalLong.empty();
    }
  }
}
