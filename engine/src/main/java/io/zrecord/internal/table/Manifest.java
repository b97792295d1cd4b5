package io.zrecord.internal.table;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.internal.format.FieldJson;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The manifest of one version of a table (FORMAT.md section 7).
 *
 * @param tableId identity of the table
 * @param version number of this version, from 0
 * @param commitId unique to the attempt that published the version
 * @param timestampMillis Unix time, greater than that of the version before
 * @param operation informative
 * @param properties informative
 * @param nextFieldId greater than every field id ever used
 * @param schema the fields
 * @param lists older shards
 * @param shards newer shards
 * @param transactions last transaction number of each application
 * @param indexMap shard whose record <i>i</i> holds the index in this version of record <i>i</i> of
 *     the version before
 */
public record Manifest(
    UUID tableId,
    long version,
    UUID commitId,
    long timestampMillis,
    String operation,
    Map<String, String> properties,
    int nextFieldId,
    RecordSchema schema,
    List<ShardListFile> lists,
    List<ShardSummary> shards,
    Map<String, Long> transactions,
    Optional<ShardSummary> indexMap) {

  /** Creates a version in which records keep their indices. */
  public Manifest(
      UUID tableId,
      long version,
      UUID commitId,
      long timestampMillis,
      String operation,
      Map<String, String> properties,
      int nextFieldId,
      RecordSchema schema,
      List<ShardListFile> lists,
      List<ShardSummary> shards,
      Map<String, Long> transactions) {
    this(
        tableId,
        version,
        commitId,
        timestampMillis,
        operation,
        properties,
        nextFieldId,
        schema,
        lists,
        shards,
        transactions,
        Optional.empty());
  }

  byte[] write() {
    ObjectNode node = SealedJson.object()
        .put("format", JsonObject.FORMAT_VERSION)
        .put("table", tableId.toString())
        .put("version", version)
        .put("commit", commitId.toString())
        .put("timestampMillis", timestampMillis)
        .put("operation", operation);
    ObjectNode propertiesNode = node.putObject("properties");
    properties.forEach(propertiesNode::put);
    node.put("length", length()).put("nextFieldId", nextFieldId);
    ArrayNode fields = node.putArray("fields");
    schema.fields().forEach(field -> fields.add(FieldJson.write(field)));
    ArrayNode listsNode = node.putArray("lists");
    lists.forEach(list -> listsNode.add(list.write()));
    ArrayNode shardsNode = node.putArray("shards");
    shards.forEach(shard -> shardsNode.add(ShardJson.write(shard)));
    ObjectNode transactionsNode = node.putObject("transactions");
    transactions.forEach(transactionsNode::put);
    indexMap.ifPresent(map -> node.set("indexMap", ShardJson.write(map)));
    return SealedJson.seal(node);
  }

  static Manifest read(String resource, long expectedVersion, byte[] file) {
    JsonObject json = SealedJson.open(resource, file).requireFormat();
    RecordSchema schema;
    try {
      schema =
          new RecordSchema(json.objects("fields").stream().map(FieldJson::read).toList());
    } catch (IllegalArgumentException e) {
      throw json.corrupt(String.valueOf(e.getMessage()));
    }
    Manifest manifest = new Manifest(
        json.uuid("table"),
        json.integer("version", 0, Long.MAX_VALUE),
        json.uuid("commit"),
        json.integer("timestampMillis", 0, Long.MAX_VALUE),
        json.string("operation"),
        json.strings("properties"),
        (int) json.integer("nextFieldId", 1, Integer.MAX_VALUE),
        schema,
        json.objects("lists").stream().map(ShardListFile::read).toList(),
        json.objects("shards").stream().map(ShardJson::read).toList(),
        json.integerMap("transactions"),
        json.has("indexMap")
            ? Optional.of(ShardJson.read(json.object("indexMap")))
            : Optional.empty());
    if (manifest.version != expectedVersion) {
      throw json.corrupt(
          "it is version " + manifest.version + ", but its name says " + expectedVersion);
    }
    long length = ShardListFile.sumOfLengths(json, manifest.shards);
    for (ShardListFile list : manifest.lists) {
      length += list.length();
      if (length < 0) {
        throw json.corrupt("its shards have more than 2^63 records");
      }
    }
    if (length != json.integer("length", 0, Long.MAX_VALUE)) {
      throw json.corrupt("its shards have " + length + " records, but it says another length");
    }
    if (manifest.indexMap.isPresent() && manifest.indexMap.get().length() != length) {
      throw json.corrupt("its index map has " + manifest.indexMap.get().length()
          + " records, but the version has " + length);
    }
    if (schema.fields().stream().anyMatch(field -> field.id() >= manifest.nextFieldId)) {
      throw json.corrupt("a field has an id that is not below nextFieldId " + manifest.nextFieldId);
    }
    return manifest;
  }

  /** Returns the number of records of all shards. */
  public long length() {
    return lists.stream().mapToLong(ShardListFile::length).sum()
        + shards.stream().mapToLong(ShardSummary::length).sum();
  }
}
