package io.zrecord.internal.table;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Features;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.shard.ShardSummary;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A file that lists older shards, so that a manifest need not repeat them.
 *
 * @param file name relative to the table
 * @param shardCount number of shards in the file
 * @param length sum of the shards' lengths
 * @param lengthBytes length of the file
 * @param checksum value of the file's seal
 * @param unknown members of the manifest's entry that this release does not know, as JSON
 */
public record ShardListFile(
    String file, int shardCount, long length, int lengthBytes, int checksum, String unknown) {
  /** Most shards that a manifest itself holds, and that a list holds. */
  public static final int MAX_SHARDS = 1000;

  private static final Pattern FILE = Pattern.compile("list/[0-9a-f-]{36}\\.json");

  private static final Set<String> MEMBERS = Set.of("file", "shards", "length", "bytes", "crc");

  ObjectNode write() {
    ObjectNode node = SealedJson.object()
        .put("file", file)
        .put("shards", shardCount)
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
        (int) json.integer("shards", 1, Integer.MAX_VALUE),
        json.integer("length", 1, Long.MAX_VALUE),
        (int) json.integer("bytes", 1, SealedJson.MAX_BYTES),
        json.checksum("crc"),
        json.unknown(MEMBERS));
  }

  /**
   * Describes a new file.
   *
   * @param content the content, as {@link #writeFile} returns it
   */
  static ShardListFile of(String file, List<ShardSummary> shards, byte[] content) {
    return new ShardListFile(
        file,
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

  /** Parses the content of this file. */
  List<ShardSummary> readFile(String resource, byte[] bytes) {
    int sealed = SealedJson.checksum(resource, bytes);
    if (bytes.length != lengthBytes || sealed != checksum) {
      throw new CorruptDataException(
          resource,
          "Cannot read " + resource + ": it has " + bytes.length + " bytes with checksum "
              + HexFormat.of().toHexDigits(sealed) + ", but the manifest says " + lengthBytes
              + " with " + HexFormat.of().toHexDigits(checksum) + "; restore it from a copy");
    }
    JsonObject json = SealedJson.open(resource, bytes).requireFormat();
    List<ShardSummary> shards = ShardJson.readAll(json, FieldSets.read(json));
    if (shards.size() != shardCount || sumOfLengths(json, shards) != length) {
      throw json.corrupt("it has " + shards.size() + " shards, but the manifest says " + shardCount
          + " with " + length + " records");
    }
    return shards;
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
    try {
      long sum = 0;
      for (ShardSummary shard : shards) {
        sum = Math.addExact(sum, shard.length());
      }
      return sum;
    } catch (ArithmeticException e) {
      throw json.corrupt("its shards have more than 2^63 records");
    }
  }
}
