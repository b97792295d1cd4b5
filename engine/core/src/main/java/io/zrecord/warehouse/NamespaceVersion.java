package io.zrecord.warehouse;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.SealedJson;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * A state of a namespace, as a file has it (FORMAT.md section 23). Immutable.
 *
 * @param commitId identity of the change that made the state
 * @param timestampMillis Unix time of the change
 * @param isDropped whether the change dropped the namespace
 * @param properties by name
 * @param unknown members that this release does not know, as JSON
 */
record NamespaceVersion(
    UUID commitId,
    long timestampMillis,
    boolean isDropped,
    SortedMap<String, String> properties,
    String unknown) {
  private static final Set<String> MEMBERS =
      Set.of("format", "features", "commit", "timestampMillis", "dropped", "properties", "crc32c");

  NamespaceVersion {
    properties = Collections.unmodifiableSortedMap(new TreeMap<>(properties));
  }

  /** Returns the state that the creation of a namespace leads to. */
  static NamespaceVersion first(long millis, Map<String, String> properties) {
    return new NamespaceVersion(UUID.randomUUID(), millis, false, new TreeMap<>(properties), "");
  }

  /** Returns the state that other properties lead to. */
  NamespaceVersion next(long millis, Map<String, String> newProperties) {
    return new NamespaceVersion(
        UUID.randomUUID(), millis, false, new TreeMap<>(newProperties), unknown);
  }

  /** Returns the state that a drop leads to. */
  static NamespaceVersion dropped(long millis) {
    return new NamespaceVersion(UUID.randomUUID(), millis, true, new TreeMap<>(), "");
  }

  byte[] write() {
    ObjectNode node = SealedJson.object()
        .put("format", JsonObject.FORMAT_VERSION)
        .put("commit", commitId.toString())
        .put("timestampMillis", timestampMillis)
        .put("dropped", isDropped);
    ObjectNode named = node.putObject("properties");
    properties.forEach(named::put);
    return SealedJson.seal(JsonObject.withMembers(node, unknown));
  }

  static NamespaceVersion read(String resource, byte[] file) {
    JsonObject json = SealedJson.open(resource, file).requireFormat();
    JsonObject named = json.object("properties");
    SortedMap<String, String> properties = new TreeMap<>();
    for (Iterator<String> names = named.node().fieldNames(); names.hasNext(); ) {
      String name = names.next();
      properties.put(name, named.string(name));
    }
    return new NamespaceVersion(
        json.uuid("commit"),
        json.integer("timestampMillis", 0, Long.MAX_VALUE),
        json.flag("dropped", false),
        properties,
        json.unknown(MEMBERS));
  }
}
