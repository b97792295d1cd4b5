package io.zrecord.internal.table;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.TagNames;
import java.util.HexFormat;
import java.util.Set;

/**
 * A tag in a manifest: a name of a version, and the copy of that version's manifest.
 *
 * @param name name of the tag, unique in a version
 * @param version the version that the tag keeps
 * @param timestampMillis Unix time of the tag's creation
 * @param file name of the copy, relative to the table
 * @param lengthBytes length of the copy
 * @param checksum value of the copy's seal
 * @param unknown members that this release does not know, as JSON
 */
public record TagEntry(
    String name,
    long version,
    long timestampMillis,
    String file,
    int lengthBytes,
    int checksum,
    String unknown) {
  private static final Set<String> MEMBERS =
      Set.of("name", "version", "timestampMillis", "file", "bytes", "crc");

  /** Makes a tag that says nothing beyond this release. */
  public TagEntry(
      String name, long version, long timestampMillis, String file, int lengthBytes, int checksum) {
    this(name, version, timestampMillis, file, lengthBytes, checksum, "");
  }

  /** Returns the same tag, made at another time. */
  TagEntry at(long newTimestampMillis) {
    return new TagEntry(name, version, newTimestampMillis, file, lengthBytes, checksum, unknown);
  }

  ObjectNode write() {
    ObjectNode node = SealedJson.object()
        .put("name", name)
        .put("version", version)
        .put("timestampMillis", timestampMillis)
        .put("file", file)
        .put("bytes", lengthBytes)
        .put("crc", HexFormat.of().toHexDigits(checksum));
    return JsonObject.withMembers(node, unknown);
  }

  static TagEntry read(JsonObject json) {
    TagEntry entry = new TagEntry(
        json.string("name"),
        json.integer("version", 0, Long.MAX_VALUE),
        json.integer("timestampMillis", 0, Long.MAX_VALUE),
        json.string("file"),
        (int) json.integer("bytes", 1, SealedJson.MAX_BYTES),
        json.checksum("crc"),
        json.unknown(MEMBERS));
    if (!TagNames.isAllowed(entry.name)) {
      throw json.corrupt("'" + entry.name + "' is not allowed as the name of a tag");
    }
    if (!TagNames.isFile(entry.file)) {
      throw json.corrupt("'" + entry.file + "' is not allowed as the name of a tag's file");
    }
    return entry;
  }
}
