package io.zrecord.internal.table;

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
import java.util.stream.Stream;

/**
 * A file that lists older shards, or lists of them, so that a manifest need not repeat them.
 *
 * @param file name relative to the table
 * @param level 1 for a list of shards, 2 for a list of lists of shards
 * @param shardCount number of shards in the file, or in its lists
 * @param length sum of the shards' lengths
 * @param lengthBytes length of the file
 * @param checksum value of the file's seal
 * @param unknown members of the manifest's entry that this release does not know, as JSON
 */
public record ShardListFile(
    String file,
    int level,
    int shardCount,
    long length,
    int lengthBytes,
    int checksum,
    String unknown) {
  /** Most shards that a manifest itself holds, and that a list holds. */
  public static final int MAX_SHARDS = 1000;

  /** Most lists of shards that a list of lists names. */
  public static final int MAX_LISTS = 1000;

  /** Most lists of shards that a manifest itself names, because each commit writes it whole. */
  public static final int MAX_LISTS_OF_MANIFEST = 100;

  private static final Pattern FILE = Pattern.compile("list/[0-9a-f-]{36}\\.json");

  private static final Set<String> MEMBERS =
      Set.of("file", "level", "shards", "length", "bytes", "crc");

  ObjectNode write() {
    ObjectNode node = SealedJson.object().put("file", file);
    if (isOfLists()) {
      node.put("level", level);
    }
    node.put("shards", shardCount)
        .put("length", length)
        .put("bytes", lengthBytes)
        .put("crc", HexFormat.of().toHexDigits(checksum));
    return JsonObject.withMembers(node, unknown);
  }

  static ShardListFile read(JsonObject json) {
    String file = json.string("file");
    if (!FILE.matcher(file).matches()) {
      throw json.corrupt("'" + file + "' is not allowed as the name of a shard list");
    }
    return new ShardListFile(
        file,
        json.optionalInteger("level", 1, 2).orElse(1),
        (int) json.integer("shards", 1, Integer.MAX_VALUE),
        json.integer("length", 1, Long.MAX_VALUE),
        (int) json.integer("bytes", 1, SealedJson.MAX_BYTES),
        json.checksum("crc"),
        json.unknown(MEMBERS));
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
        "");
  }

  static byte[] writeLists(List<ShardListFile> lists) {
    ObjectNode node = SealedJson.object().put("format", JsonObject.FORMAT_VERSION);
    var array = node.putArray("lists");
    lists.forEach(list -> array.add(list.write()));
    return SealedJson.seal(node);
  }

  /** Parses the content of this file, which lists shards. */
  List<ShardSummary> readFile(String resource, byte[] bytes) {
    requireBound(resource, bytes);
    List<ShardSummary> shards = PlainShards.read(resource, bytes).orElseGet(() -> {
      JsonObject json = SealedJson.open(resource, bytes).requireFormat();
      return ShardJson.readAll(json, FieldSets.read(json));
    });
    requireSums(resource, shards.size(), shards.stream().map(ShardSummary::length));
    return shards;
  }

  /** Parses the content of this file, which lists lists. */
  List<ShardListFile> readLists(String resource, byte[] bytes) {
    requireBound(resource, bytes);
    JsonObject json = SealedJson.open(resource, bytes).requireFormat();
    List<ShardListFile> lists =
        json.objects("lists").stream().map(ShardListFile::read).toList();
    if (lists.stream().anyMatch(ShardListFile::isOfLists)) {
      throw json.corrupt("it lists a list of lists, but there are two levels at most");
    }
    requireSums(
        resource,
        lists.stream().mapToLong(ShardListFile::shardCount).sum(),
        lists.stream().map(ShardListFile::length));
    return lists;
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
    if (shards != shardCount || !sumOf(lengths).equals(OptionalLong.of(length))) {
      throw new CorruptDataException(
          resource,
          "Cannot read " + resource + ": it has " + shards + " shards, but the manifest says "
              + shardCount + " with " + length + " records");
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
