package io.zrecord.internal.table;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.JsonTuple;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.TablesJson;
import io.zrecord.internal.format.TablesTrailer;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads and writes the shards in manifests and shard lists (FORMAT.md section 7). */
final class ShardJson {
  private static final int TABLES_ELEMENTS = 6;
  private static final int PATCH_ELEMENTS = 5;
  private static final Set<String> MEMBERS =
      Set.of("uuid", "length", "chunks", "tables", "values", "partition", "slots", "patch");

  private ShardJson() {}

  static ObjectNode write(ShardSummary shard, FieldSets fieldSets) {
    ObjectNode node =
        SealedJson.object().put("uuid", shard.id().toString()).put("length", shard.length());
    TablesJson.writeChunks(node, shard.chunks());
    ArrayNode tables = node.putArray("tables");
    for (TablesRef file : shard.tables()) {
      tables
          .addArray()
          .add(file.id().toString())
          .add(file.bytes())
          .add(file.jsonPosition())
          .add(file.jsonBytes())
          .add(HexFormat.of().toHexDigits(file.jsonChecksum()))
          .add(fieldSets.ordinalOf(file.fieldIds()));
    }
    ArrayNode values = node.putArray("values");
    shard.valueBytes().forEach((id, bytes) -> values.addArray().add(id).add(bytes));
    if (!shard.partition().isEmpty()) {
      ArrayNode partition = node.putArray("partition");
      shard.partition().forEach(partition::add);
    }
    writePatch(node, shard);
    return JsonObject.withMembers(node, shard.unknown());
  }

  static ShardSummary read(JsonObject json, FieldSets fieldSets) {
    UUID id = json.uuid("uuid");
    List<ChunkFile> chunks = TablesJson.readChunks(json);
    if (chunks.stream().anyMatch(chunk -> id.equals(chunk.owner()))) {
      throw json.corrupt("shard " + id + " names one of its own chunks as another shard's");
    }
    long length = json.integer("length", 1, Long.MAX_VALUE);
    return new ShardSummary(
        id,
        length,
        chunks,
        readTables(json, fieldSets),
        readValues(json, id, sumOf(json, chunks)),
        json.has("partition") ? json.textsOrNull("partition") : List.of(),
        readPatch(json, length),
        json.unknown(MEMBERS));
  }

  private static void writePatch(ObjectNode node, ShardSummary shard) {
    PatchRef patch = shard.patch();
    if (patch != null) {
      node.put("slots", patch.slots());
      node.putArray("patch")
          .add(patch.id().toString())
          .add(patch.bytes())
          .add(patch.jsonPosition())
          .add(patch.jsonBytes())
          .add(HexFormat.of().toHexDigits(patch.jsonChecksum()));
    }
  }

  private static @Nullable PatchRef readPatch(JsonObject json, long length) {
    if (json.has("slots") != json.has("patch")) {
      throw json.corrupt("a shard has one of the members 'slots' and 'patch' only");
    }
    if (!json.has("patch")) {
      return null;
    }
    JsonTuple tuple = JsonTuple.of(json, "patch", PATCH_ELEMENTS, PATCH_ELEMENTS);
    long position = tuple.integer(2, FileHeader.BYTES, PatchRef.MOST_BYTES);
    int jsonBytes = (int) tuple.integer(3, 1, PatchRef.MOST_BYTES);
    long end = position + jsonBytes + TablesTrailer.BYTES;
    if (end > PatchRef.MOST_BYTES) {
      throw tuple.corrupt("a patch of at most " + PatchRef.MOST_BYTES + " bytes");
    }
    return new PatchRef(
        tuple.uuid(0),
        tuple.integer(1, end, end),
        position,
        jsonBytes,
        tuple.checksum(4),
        json.integer("slots", length, Long.MAX_VALUE));
  }

  private static long sumOf(JsonObject json, List<ChunkFile> chunks) {
    try {
      return chunks.stream().mapToLong(ChunkFile::bytes).reduce(0, Math::addExact);
    } catch (ArithmeticException e) {
      throw json.corrupt("the chunks of a shard have more than 2^63 bytes");
    }
  }

  private static List<TablesRef> readTables(JsonObject json, FieldSets fieldSets) {
    List<TablesRef> tables = new ArrayList<>();
    Set<UUID> ids = new HashSet<>();
    List<Integer> sets = new ArrayList<>();
    for (JsonTuple tuple : JsonTuple.all(json, "tables", TABLES_ELEMENTS, TABLES_ELEMENTS)) {
      long position = tuple.integer(2, FileHeader.BYTES, Long.MAX_VALUE / 2);
      int jsonBytes = (int) tuple.integer(3, 1, SealedJson.MAX_BYTES);
      long end = position + jsonBytes + TablesTrailer.BYTES;
      sets.add((int) tuple.integer(5, 0, fieldSets.count() - 1L));
      TablesRef file = new TablesRef(
          tuple.uuid(0),
          tuple.integer(1, end, end),
          position,
          jsonBytes,
          tuple.checksum(4),
          fieldSets.get(sets.get(sets.size() - 1)));
      if (!ids.add(file.id()) || !fieldSets.areDisjoint(sets)) {
        throw tuple.corrupt("a file, and fields, that are there once");
      }
      tables.add(file);
    }
    return tables;
  }

  private static SortedMap<Integer, Long> readValues(JsonObject json, UUID id, long chunkBytes) {
    SortedMap<Integer, Long> values = new TreeMap<>();
    for (long[] tuple : json.tuples("values", 2)) {
      if (tuple[0] < 1
          || tuple[0] > Integer.MAX_VALUE
          || tuple[1] > chunkBytes
          || values.put((int) tuple[0], tuple[1]) != null) {
        throw json.corrupt("the value bytes of shard " + id + " are out of range: field " + tuple[0]
            + ", " + tuple[1] + " bytes of " + chunkBytes);
      }
    }
    return values;
  }

  /** Writes the members {@code fieldSets} and {@code shards}. */
  static void writeAll(ObjectNode node, List<ShardSummary> shards, FieldSets fieldSets) {
    List<ObjectNode> written =
        shards.stream().map(shard -> write(shard, fieldSets)).toList();
    fieldSets.write(node);
    ArrayNode array = node.putArray("shards");
    written.forEach(array::add);
  }

  /** Reads the member {@code shards}. */
  static List<ShardSummary> readAll(JsonObject json, FieldSets fieldSets) {
    return json.objects("shards").stream().map(shard -> read(shard, fieldSets)).toList();
  }
}
