package io.zrecord.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.inspect.ChunkUsage;
import io.zrecord.inspect.DatasetUsage;
import io.zrecord.inspect.FieldUsage;
import io.zrecord.inspect.Fragmentation;
import io.zrecord.inspect.SizeHistogram;
import io.zrecord.inspect.SpaceUsage;

/** Converts the use of bytes to JSON. */
final class UsageJson {
  private UsageJson() {}

  static ObjectNode of(ChunkUsage chunk) {
    ObjectNode node = ValueJson.MAPPER
        .createObjectNode()
        .put("shard", chunk.shard().toString())
        .put("chunk", chunk.chunkId())
        .put("file", chunk.file());
    put(node, chunk.space());
    ObjectNode fields = node.putObject("liveBytesByFieldId");
    chunk.liveBytes().forEach((id, bytes) -> fields.put(id.toString(), bytes));
    return node;
  }

  static ObjectNode of(DatasetUsage usage) {
    ObjectNode node = ValueJson.MAPPER
        .createObjectNode()
        .put("records", usage.recordCount())
        .put("shards", usage.shardCount())
        .put("chunks", usage.chunkCount());
    put(node, usage.space());
    put(node, usage.fragmentation());
    node.set("shardSizes", of(usage.shardSizes()));
    node.set("chunkSizes", of(usage.chunkSizes()));
    ArrayNode fields = node.putArray("fields");
    usage.fields().forEach(field -> fields.add(of(field)));
    return node;
  }

  private static ObjectNode of(FieldUsage field) {
    ObjectNode node = ValueJson.MAPPER
        .createObjectNode()
        .put("id", field.field().id())
        .put("name", field.field().name())
        .put("records", field.recordCount())
        .put("absent", field.absentCount())
        .put("liveBytes", field.liveBytes())
        .put("paddingBytes", field.paddingBytes());
    put(node, field.fragmentation());
    node.set("valueSizes", of(field.valueSizes()));
    return node;
  }

  private static ArrayNode of(SizeHistogram histogram) {
    ArrayNode buckets = ValueJson.MAPPER.createArrayNode();
    for (SizeHistogram.Bucket bucket : histogram.buckets()) {
      buckets
          .addObject()
          .put("fromBytes", bucket.fromBytes())
          .put("toBytes", bucket.toBytes())
          .put("count", bucket.count());
    }
    return buckets;
  }

  private static void put(ObjectNode node, SpaceUsage space) {
    node.put("fileBytes", space.fileBytes())
        .put("liveBytes", space.liveBytes())
        .put("deadBytes", space.deadBytes())
        .put("paddingBytes", space.paddingBytes())
        .put("writtenRecords", space.writtenRecords())
        .put("liveRecords", space.liveRecords())
        .put("byteUtilization", space.byteUtilization())
        .put("recordUtilization", space.recordUtilization());
  }

  private static void put(ObjectNode node, Fragmentation fragmentation) {
    node.put("scattered", fragmentation.scatteredShare())
        .put("meanJumpBytes", fragmentation.meanJumpBytes())
        .put("scanCost", fragmentation.scanCost());
  }
}
