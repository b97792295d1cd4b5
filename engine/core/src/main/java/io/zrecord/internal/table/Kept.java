package io.zrecord.internal.table;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.internal.format.DeclarationsJson;
import io.zrecord.internal.format.Features;
import io.zrecord.internal.format.FieldJson;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.schema.RecordSchema;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a manifest says beyond this release, for the next version (FORMAT.md section 15).
 *
 * @param obstacle why this release may not change the table; empty if it may
 * @param members unknown members of the manifest, as JSON
 * @param fieldMembers unknown members of fields, as JSON, by the id of the field
 * @param ofDeclarations unknown members of the declarations
 */
record Kept(
    Optional<String> obstacle,
    String members,
    Map<Integer, String> fieldMembers,
    DeclarationsJson.Unknown ofDeclarations) {
  static final Kept NOTHING =
      new Kept(Optional.empty(), "", Map.of(), DeclarationsJson.Unknown.NOTHING);

  private static final Set<String> KNOWN = Set.of(
      "format",
      "table",
      "version",
      "commit",
      "previous",
      "base",
      "records",
      "oldest",
      "tags",
      "sweptBeforeMillis",
      "timestampMillis",
      "operation",
      "properties",
      "length",
      "nextFieldId",
      "fields",
      "partitions",
      "lists",
      "fieldSets",
      "shards",
      "declarations",
      "features",
      "transactions",
      "indexMap",
      "crc32c");

  static Kept of(JsonObject manifest) {
    Map<Integer, String> fields = new TreeMap<>();
    for (JsonObject field : manifest.objects("fields")) {
      String unknown = field.unknown(FieldJson.MEMBERS);
      if (!unknown.isEmpty()) {
        fields.put((int) field.integer("id", 1, Integer.MAX_VALUE), unknown);
      }
    }
    return new Kept(
        Features.obstacleOfManifest(manifest),
        manifest.unknown(KNOWN),
        fields,
        DeclarationsJson.Unknown.of(manifest));
  }

  /** Adds the fields of a version, with the members that they had before. */
  void writeFields(RecordSchema schema, ObjectNode manifest) {
    var array = manifest.putArray("fields");
    schema
        .fields()
        .forEach(field -> array.add(JsonObject.withMembers(
            FieldJson.write(field), fieldMembers.getOrDefault(field.id(), ""))));
  }
}
