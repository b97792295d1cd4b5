package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.schema.RecordSchema;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;

/**
 * What the meta file of a store says of its records (FORMAT.md section 9).
 *
 * @param id identity of the store
 * @param length number of records
 * @param hasChecksums whether values have checksums
 * @param chunkBytes bytes at which a chunk is closed
 * @param chunks all chunks, in rising order of their unsigned ids
 * @param fields all fields
 */
public record ShardMeta(
    UUID id,
    long length,
    boolean hasChecksums,
    long chunkBytes,
    List<ChunkMeta> chunks,
    List<FieldMeta> fields) {
  /** Name of the meta file. */
  public static final String FILE_NAME = "meta.json";

  /** A member that only the meta file of a store has (FORMAT.md section 9). */
  static final String STORE_SEQUENCE = "journalSequence";

  static final long MAX_CHUNK_ID = 0xffff_fffeL;

  public ShardMeta {
    chunks = List.copyOf(chunks);
    fields = List.copyOf(fields);
  }

  /** Returns the fields. */
  public RecordSchema schema() {
    return new RecordSchema(fields.stream().map(FieldMeta::spec).toList());
  }

  /** Returns the members of the file, with chunks that are still being written. */
  ObjectNode toJson(List<ChunkMeta> unfull) {
    ObjectNode node = SealedJson.object();
    node.put("format", JsonObject.FORMAT_VERSION)
        .put("uuid", id.toString())
        .put("length", length)
        .put("checksum", hasChecksums ? "crc32c" : "none");
    ObjectNode chunksNode = node.putObject("chunks").put("sizeBytes", chunkBytes);
    write(unfull, chunksNode.putArray("unfull"));
    write(chunks, chunksNode.putArray("closed"));
    ArrayNode fieldsNode = node.putArray("fields");
    fields.forEach(field -> fieldsNode.add(field.write()));
    return node;
  }

  private static void write(List<ChunkMeta> chunks, ArrayNode node) {
    for (ChunkMeta chunk : chunks) {
      node.addArray()
          .add(Integer.toUnsignedLong(chunk.id()))
          .add(chunk.endBytes())
          .add(chunk.recordCount());
    }
  }

  /** Reads the members of the file, except the chunks that are still being written. */
  static ShardMeta read(JsonObject json) {
    long length = json.integer("length", 0, Long.MAX_VALUE / Entry.BYTES);
    JsonObject chunksJson = json.object("chunks");
    List<ChunkMeta> chunks = chunks(chunksJson);
    List<FieldMeta> fields = new ArrayList<>();
    Set<String> stems = new HashSet<>();
    Set<Object> namesAndIds = new HashSet<>();
    for (JsonObject fieldJson : json.objects("fields")) {
      // Journal records hold the entries of all fields, whatever these are.
      FieldJson.unreadable(fieldJson).ifPresent(unknown -> {
        throw unknown.exception(json.resource());
      });
      FieldMeta field = FieldMeta.read(fieldJson, length);
      if (!stems.add(field.stem().toLowerCase(Locale.ROOT))
          || !namesAndIds.add(field.spec().name())
          || !namesAndIds.add(field.spec().id())) {
        throw json.corrupt(
            "the name, id or stem of field '" + field.spec().name() + "' appears twice");
      }
      fields.add(field);
    }
    return new ShardMeta(
        json.uuid("uuid"),
        length,
        hasChecksums(json),
        chunksJson.integer("sizeBytes", 1, Long.MAX_VALUE),
        chunks,
        fields);
  }

  /**
   * Requires that this release knows what a store needs of programs that change or delete files.
   *
   * @param resource the file, for messages
   * @throws UnsupportedFormatException if the store or a field uses an unknown feature
   */
  public static void requireWritable(String resource, byte[] file) {
    Features.obstacle(SealedJson.open(resource, file).requireFormat()).ifPresent(obstacle -> {
      throw Features.unwritable(resource, obstacle);
    });
  }

  private static List<ChunkMeta> chunks(JsonObject json) {
    List<ChunkMeta> chunks = new ArrayList<>();
    long previousId = -1;
    for (long[] tuple : json.tuples("closed", 3)) {
      if (tuple[0] <= previousId || tuple[0] > MAX_CHUNK_ID || tuple[1] < ChunkHeader.BYTES) {
        throw json.corrupt(
            "chunk " + tuple[0] + " of " + tuple[1] + " bytes is out of order, has an id beyond "
                + MAX_CHUNK_ID + " or is shorter than its header");
      }
      previousId = tuple[0];
      chunks.add(new ChunkMeta((int) tuple[0], tuple[2], tuple[1]));
    }
    return chunks;
  }

  static boolean hasChecksums(JsonObject json) {
    String name = json.string("checksum");
    return switch (name) {
      case "crc32c" -> true;
      case "none" -> false;
      default ->
        throw new UnsupportedFormatException(
            json.resource(),
            "Cannot read " + json.resource() + ": it uses the feature 'checksum " + name
                + "', which this release does not know; upgrade zrecord");
    };
  }
}
