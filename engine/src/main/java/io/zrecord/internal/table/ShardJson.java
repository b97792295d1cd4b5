package io.zrecord.internal.table;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.shard.ShardSummary;
import java.util.HexFormat;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Reads and writes the shards in manifests and shard lists. */
final class ShardJson {
  private static final Pattern META_FILE = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}");

  private ShardJson() {}

  static ObjectNode write(ShardSummary shard) {
    ObjectNode node = SealedJson.object()
        .put("uuid", shard.id().toString())
        .put("meta", shard.metaFile())
        .put("metaCrc", HexFormat.of().toHexDigits(shard.metaChecksum()))
        .put("length", shard.length())
        .put("chunks", shard.chunkCount())
        .put("chunkBytes", shard.chunkBytes());
    ArrayNode values = node.putArray("values");
    shard.valueBytes().forEach((id, bytes) -> values.addArray().add(id).add(bytes));
    return node;
  }

  static ShardSummary read(JsonObject json) {
    long chunkBytes = json.integer("chunkBytes", 0, Long.MAX_VALUE);
    SortedMap<Integer, Long> values = new TreeMap<>();
    for (long[] tuple : json.tuples("values", 2)) {
      if (tuple[0] < 1
          || tuple[0] > Integer.MAX_VALUE
          || tuple[1] > chunkBytes
          || values.put((int) tuple[0], tuple[1]) != null) {
        throw json.corrupt("the value bytes of shard " + json.uuid("uuid")
            + " are out of range: field " + tuple[0] + ", " + tuple[1] + " bytes of " + chunkBytes);
      }
    }
    String metaFile = json.string("meta");
    if (!META_FILE.matcher(metaFile).matches()) {
      throw json.corrupt("'" + metaFile + "' is not allowed as the name of a meta file");
    }
    return new ShardSummary(
        json.uuid("uuid"),
        metaFile,
        json.checksum("metaCrc"),
        json.integer("length", 1, Long.MAX_VALUE),
        (int) json.integer("chunks", 0, Integer.MAX_VALUE),
        chunkBytes,
        values);
  }
}
