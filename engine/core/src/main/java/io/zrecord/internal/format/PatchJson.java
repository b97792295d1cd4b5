package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.shard.ChunkFile;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The JSON at the end of a patch (FORMAT.md section 3.3). A field is read when it is asked for, so
 * that a field which this release cannot read costs nothing but itself.
 *
 * @param shardId identity of the shard
 * @param fileId identity of the file
 * @param slots number of slots of the shard
 * @param chunks the chunk files that the entries use; these name them by their ordinal
 * @param deleted the slots that were deleted
 * @param fields the fields with changed values, by id, as they are written
 * @param since what the commit of the patch changed; empty if the patch does not say
 * @param position where the JSON begins in the file, and sections end
 */
public record PatchJson(
    UUID shardId,
    UUID fileId,
    long slots,
    List<ChunkFile> chunks,
    SlotSet deleted,
    SortedMap<Integer, JsonObject> fields,
    Optional<PatchSince> since,
    long position) {

  public PatchJson {
    chunks = List.copyOf(chunks);
    fields = Collections.unmodifiableSortedMap(new TreeMap<>(fields));
  }

  /** Returns the JSON of fields that were written. */
  public static PatchJson of(
      UUID shardId,
      UUID fileId,
      long slots,
      List<ChunkFile> chunks,
      SlotSet deleted,
      Collection<PatchField> written,
      Optional<PatchSince> since,
      long position) {
    SortedMap<Integer, JsonObject> fields = new TreeMap<>();
    written.forEach(
        field -> fields.put(field.id(), new JsonObject(fileId.toString(), field.write())));
    return new PatchJson(shardId, fileId, slots, chunks, deleted, fields, since, position);
  }

  /** Returns the sealed JSON. */
  public byte[] write() {
    ObjectNode node = SealedJson.object();
    node.put("format", JsonObject.FORMAT_VERSION)
        .put("shard", shardId.toString())
        .put("file", fileId.toString())
        .put("slots", slots);
    TablesJson.writeChunks(node, chunks);
    deleted.write(node, "deleted");
    ArrayNode fieldsNode = node.putArray("fields");
    fields.values().forEach(field -> fieldsNode.add(field.node()));
    since.ifPresent(said -> said.write(node));
    return SealedJson.seal(node);
  }

  /**
   * Reads the JSON.
   *
   * @param resource the file, for messages
   * @param position where the JSON begins in the file
   * @throws CorruptDataException if the JSON is damaged
   * @throws io.zrecord.errors.UnsupportedFormatException if the patch uses an unknown feature
   */
  public static PatchJson read(String resource, byte[] bytes, long position) {
    JsonObject json = SealedJson.open(resource, bytes).requireFormat();
    SortedMap<Integer, JsonObject> fields = new TreeMap<>();
    for (JsonObject field : json.objects("fields")) {
      int id = (int) field.integer("id", 1, Integer.MAX_VALUE);
      if (fields.put(id, field) != null) {
        throw json.corrupt("field " + id + " is there twice");
      }
    }
    return new PatchJson(
        json.uuid("shard"),
        json.uuid("file"),
        json.integer("slots", 1, Long.MAX_VALUE),
        TablesJson.readChunks(json),
        SlotSet.read(json, "deleted", position),
        fields,
        PatchSince.read(json, position),
        position);
  }

  /** Tells whether values of a field were changed. */
  public boolean hasField(int id) {
    return fields.containsKey(id);
  }

  /**
   * Returns what the patch says of a field that it has.
   *
   * @throws CorruptDataException if that contradicts itself
   * @throws io.zrecord.errors.UnsupportedFormatException if the field uses an unknown feature
   */
  public PatchField field(int id) {
    JsonObject field = fields.get(id);
    if (field == null) {
      throw new IllegalArgumentException("No changed values of field " + id);
    }
    return PatchField.read(field, slots, position);
  }
}
