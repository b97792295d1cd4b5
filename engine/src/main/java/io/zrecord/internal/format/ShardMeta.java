package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.UnsupportedFormatException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;

/**
 * The meta file of a sealed shard (FORMAT.md section 3).
 *
 * @param id identity of the shard
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
  /** Name of the meta file of a shard that was never changed. */
  public static final String FILE_NAME = "meta.json";

  /** A member that only the meta file of a store has (FORMAT.md section 9). */
  static final String STORE_SEQUENCE = "journalSequence";

  static final long MAX_CHUNK_ID = 0xffff_fffeL;

  public ShardMeta {
    chunks = List.copyOf(chunks);
    fields = List.copyOf(fields);
  }

  /**
   * Returns the names of the files that this meta file may name, relative to the shard's directory:
   * chunks and tables.
   */
  public Set<String> fileNames() {
    Set<String> names = new HashSet<>();
    chunks.forEach(chunk -> names.add(chunk.fileName()));
    for (FieldMeta field : fields) {
      List<String> kinds = field.layout() == FieldMeta.Layout.RUNS
          ? List.of(".runs", ".valid")
          : List.of(".offset", ".crc32c");
      kinds.forEach(kind -> names.add(field.stem() + kind));
    }
    return names;
  }

  /** Returns the sealed file. */
  public byte[] write() {
    return SealedJson.seal(toJson(List.of()));
  }

  /** Returns the members of the file, with chunks that are still being written. */
  ObjectNode toJson(List<ChunkMeta> unfull) {
    ObjectNode node = SealedJson.object();
    node.put("format", JsonObject.FORMAT_VERSION)
        .put("uuid", id.toString())
        .put("length", length)
        .put("checksum", hasChecksums ? "crc32c" : "none");
    ObjectNode chunksNode = node.putObject("chunks")
        .put("num", chunks.size() + unfull.size())
        .put("sizeBytes", chunkBytes);
    write(unfull, chunksNode.putArray("unfull"));
    write(chunks, chunksNode.putArray("closed"));
    ArrayNode fieldsNode = node.putArray("fields");
    fields.forEach(field -> fieldsNode.add(field.write()));
    return node;
  }

  private static void write(List<ChunkMeta> chunks, ArrayNode node) {
    for (ChunkMeta chunk : chunks) {
      ArrayNode tuple =
          node.addArray().add(Integer.toUnsignedLong(chunk.id())).add(chunk.endBytes());
      if (chunk.isOfStore()) {
        tuple.add(chunk.recordCount());
      }
    }
  }

  /**
   * Reads a meta file.
   *
   * @param resource the file, for messages
   * @throws io.zrecord.errors.CorruptDataException if the file is damaged
   * @throws UnsupportedFormatException if a newer release wrote the file
   */
  public static ShardMeta read(String resource, byte[] file) {
    JsonObject json = SealedJson.open(resource, file).requireFormat();
    if (json.has(STORE_SEQUENCE) || !json.object("chunks").tuples("unfull", 3).isEmpty()) {
      throw new UnsupportedFormatException(
          resource,
          "Cannot read " + resource
              + ": it is of a store that is written online; open it as a RecordStore");
    }
    return read(json);
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
        json.parse("checksum", ShardMeta::hasChecksums),
        chunksJson.integer("sizeBytes", 1, Long.MAX_VALUE),
        chunks,
        fields);
  }

  private static List<ChunkMeta> chunks(JsonObject json) {
    List<ChunkMeta> chunks = new ArrayList<>();
    long previousId = -1;
    for (long[] tuple : json.tuples("closed", 2, 3)) {
      if (tuple[0] <= previousId || tuple[0] > MAX_CHUNK_ID || tuple[1] < ChunkHeader.BYTES) {
        throw json.corrupt(
            "chunk " + tuple[0] + " of " + tuple[1] + " bytes is out of order, has an id beyond "
                + MAX_CHUNK_ID + " or is shorter than its header");
      }
      previousId = tuple[0];
      chunks.add(
          tuple.length == 2
              ? ChunkMeta.writtenInBulk((int) tuple[0], tuple[1])
              : new ChunkMeta((int) tuple[0], tuple[2], tuple[1]));
    }
    if (json.integer("num", 0, Integer.MAX_VALUE)
        != chunks.size() + json.tuples("unfull", 3).size()) {
      throw json.corrupt("it names " + chunks.size() + " chunks but counts another number of them");
    }
    return chunks;
  }

  private static boolean hasChecksums(String name) {
    return switch (name) {
      case "crc32c" -> true;
      case "none" -> false;
      default -> throw new IllegalArgumentException("expected crc32c or none");
    };
  }
}
