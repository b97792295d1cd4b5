package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.shard.ChunkFile;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The JSON at the end of a tables file (FORMAT.md section 3). A field is read when it is asked for,
 * so that a field which this release cannot read costs nothing but itself.
 *
 * @param shardId identity of the shard
 * @param fileId identity of the file
 * @param length number of records of the shard
 * @param hasChecksums whether values have checksums; tables always have theirs
 * @param chunks the chunk files that the fields use; runs and entries name them by their ordinal
 * @param fields the fields by id, as they are written
 * @param sinceJson what the file says of its commit, as it is written; null if nothing
 * @param position where the JSON begins in the file, and sections end
 */
public record TablesJson(
    UUID shardId,
    UUID fileId,
    long length,
    boolean hasChecksums,
    List<ChunkFile> chunks,
    SortedMap<Integer, JsonObject> fields,
    @Nullable JsonObject sinceJson,
    long position) {
  private static final long MOST_RECORDS = Long.MAX_VALUE / EntryUnits.UNIT_BYTES;
  private static final long LAST_STORE_CHUNK = 0xffff_fffeL;

  public TablesJson {
    chunks = List.copyOf(chunks);
    fields = Collections.unmodifiableSortedMap(new TreeMap<>(fields));
  }

  /** Returns the JSON of fields that were written. */
  public static TablesJson of(
      UUID shardId,
      UUID fileId,
      long length,
      boolean hasChecksums,
      List<ChunkFile> chunks,
      Collection<FieldTables> written,
      long position) {
    SortedMap<Integer, JsonObject> fields = new TreeMap<>();
    written.forEach(
        field -> fields.put(field.id(), new JsonObject(fileId.toString(), field.write())));
    return new TablesJson(shardId, fileId, length, hasChecksums, chunks, fields, null, position);
  }

  /** Returns the same JSON of a commit that gave values to some slots only. */
  public TablesJson withSince(TablesSince newSince) {
    JsonObject node =
        newSince.write().map(json -> new JsonObject(fileId.toString(), json)).orElse(null);
    return new TablesJson(shardId, fileId, length, hasChecksums, chunks, fields, node, position);
  }

  /**
   * Returns what the file says of its commit.
   *
   * @throws CorruptDataException if that contradicts itself, or is of fields that the file does not
   *     have
   */
  public TablesSince since() {
    TablesSince since = TablesSince.read(sinceJson, position);
    for (int id : since.fields().keySet()) {
      if (!fields.containsKey(id)) {
        throw Objects.requireNonNull(sinceJson)
            .corrupt("its commit gave values to field " + id + ", which the file does not have");
      }
    }
    return since;
  }

  /** Returns the sealed JSON. */
  public byte[] write() {
    ObjectNode node = SealedJson.object();
    node.put("format", JsonObject.FORMAT_VERSION)
        .put("shard", shardId.toString())
        .put("file", fileId.toString())
        .put("length", length)
        .put("checksum", hasChecksums ? "crc32c" : "none");
    writeChunks(node, chunks);
    ArrayNode fieldsNode = node.putArray("fields");
    fields.values().forEach(field -> fieldsNode.add(field.node()));
    if (sinceJson != null) {
      node.set("since", sinceJson.node());
    }
    return SealedJson.seal(node);
  }

  /** Writes the member {@code chunks} of tables files and of shards in manifests. */
  public static void writeChunks(ObjectNode node, List<ChunkFile> chunks) {
    ArrayNode chunksNode = node.putArray("chunks");
    for (ChunkFile chunk : chunks) {
      ArrayNode tuple = chunksNode.addArray().add(chunk.id().toString()).add(chunk.bytes());
      if (chunk.isOfStore()) {
        tuple.add(chunk.storeChunk()).add(chunk.storeRecords());
      }
      UUID owner = chunk.owner();
      if (owner != null) {
        tuple.add(owner.toString());
      }
    }
  }

  /**
   * Reads the JSON.
   *
   * @param resource the file, for messages
   * @param position where the JSON begins in the file
   * @throws CorruptDataException if the JSON is damaged
   * @throws io.zrecord.errors.UnsupportedFormatException if a newer release wrote the file
   */
  public static TablesJson read(String resource, byte[] bytes, long position) {
    JsonObject json = SealedJson.open(resource, bytes).requireFormat();
    SortedMap<Integer, JsonObject> fields = new TreeMap<>();
    for (JsonObject field : json.objects("fields")) {
      if (fields.put((int) field.integer("id", 1, Integer.MAX_VALUE), field) != null) {
        throw json.corrupt(
            "field " + field.integer("id", 1, Integer.MAX_VALUE) + " is there twice");
      }
    }
    return new TablesJson(
        json.uuid("shard"),
        json.uuid("file"),
        json.integer("length", 1, MOST_RECORDS),
        ShardMeta.hasChecksums(json),
        readChunks(json),
        fields,
        json.has("since") ? json.object("since") : null,
        position);
  }

  /** Reads the member {@code chunks} of tables files and of shards in manifests. */
  public static List<ChunkFile> readChunks(JsonObject json) {
    List<ChunkFile> chunks = new ArrayList<>();
    Set<UUID> ids = new HashSet<>();
    for (JsonTuple tuple : JsonTuple.all(json, "chunks", 2, 4)) {
      UUID id = tuple.uuid(0);
      long bytes = tuple.integer(1, FileHeader.BYTES, Long.MAX_VALUE);
      ChunkFile chunk = switch (tuple.size()) {
        case 2 -> ChunkFile.of(id, bytes);
        case 3 -> new ChunkFile(id, bytes, ChunkFile.NOT_OF_A_STORE, 0, tuple.uuid(2));
        default ->
          new ChunkFile(
              id,
              bytes,
              tuple.integer(2, 0, LAST_STORE_CHUNK),
              tuple.integer(3, 0, Long.MAX_VALUE));
      };
      if (!ids.add(chunk.id())) {
        throw json.corrupt("chunk " + chunk.id() + " is there twice");
      }
      chunks.add(chunk);
    }
    return chunks;
  }

  /**
   * Requires that this release knows what a tables file needs of programs that change or delete
   * files.
   *
   * @param resource the file, for messages
   * @param bytes the JSON
   * @throws io.zrecord.errors.UnsupportedFormatException if the file or a field uses an unknown
   *     feature
   */
  public static void requireWritable(String resource, byte[] bytes) {
    Features.obstacle(SealedJson.open(resource, bytes).requireFormat()).ifPresent(obstacle -> {
      throw Features.unwritable(resource, obstacle);
    });
  }

  /** Returns the ids of the fields with tables in the file. */
  public SortedSet<Integer> fieldIds() {
    return new TreeSet<>(fields.keySet());
  }

  /** Tells whether this release can read a field that the file has. */
  public boolean isReadable(int id) {
    JsonObject field = fields.get(id);
    return field != null && FieldJson.unreadable(field).isEmpty();
  }

  /**
   * Returns the tables of a field that the file has.
   *
   * @throws CorruptDataException if what the JSON says of the field contradicts itself
   * @throws io.zrecord.errors.UnsupportedFormatException if the field uses an unknown feature
   */
  public FieldTables field(int id) {
    JsonObject field = fields.get(id);
    if (field == null) {
      throw new IllegalArgumentException("No tables of field " + id);
    }
    FieldJson.unreadable(field).ifPresent(unknown -> {
      throw unknown.exception(field.resource());
    });
    return FieldTables.read(field, length, position);
  }
}
