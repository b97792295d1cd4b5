package io.zrecord.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.nested.NestedArray;
import io.zrecord.nested.NestedColumn;
import io.zrecord.nested.NestedView;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.Utf8;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;

/**
 * Converts nested values to JSON and back: a list is an array, a map an array of arrays of key and
 * value, a struct an object. What is absent is null; a member of a struct may also be missing.
 * Leaves are as {@link ElementJson} has them, text is a string, bytes are a string in Base64.
 * Stateless.
 */
public final class NestedJson {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private NestedJson() {}

  /**
   * Returns a value as JSON.
   *
   * @param resource the field, for messages
   * @throws io.zrecord.errors.CorruptDataException if the bytes are no value of the type
   */
  public static JsonNode read(String resource, NestedType type, byte[] value) {
    return read(new NestedView(type).read(resource, ByteBuffer.wrap(value)), 0);
  }

  private static JsonNode read(NestedArray array, int i) {
    if (array.isAbsent(i)) {
      return JSON.nullNode();
    }
    NestedType type = array.type();
    if (type instanceof NestedType.Leaf leaf) {
      return readLeaf(leaf, array.bytes(i));
    }
    if (type instanceof NestedType.StructOf struct) {
      ObjectNode members = JSON.objectNode();
      for (int k = 0; k < struct.members().size(); k++) {
        members.set(struct.members().get(k).name(), read(array.child(k), i));
      }
      return members;
    }
    ArrayNode elements = JSON.arrayNode();
    for (int k = array.start(i); k < array.end(i); k++) {
      if (type instanceof NestedType.MapOf) {
        elements.addArray().add(read(array.child(0), k)).add(read(array.child(1), k));
      } else {
        elements.add(read(array.child(0), k));
      }
    }
    return elements;
  }

  private static JsonNode readLeaf(NestedType.Leaf leaf, byte[] value) {
    if (leaf.element().equals(ElementType.UTF8)) {
      return JSON.textNode(new String(value, StandardCharsets.UTF_8));
    }
    if (leaf.element().equals(ElementType.BYTES)) {
      return JSON.textNode(Base64.getEncoder().encodeToString(value));
    }
    return readTensor(
        leaf.element(),
        leaf.shape().dimensions(),
        ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN));
  }

  private static JsonNode readTensor(ElementType type, List<Integer> dimensions, ByteBuffer from) {
    if (dimensions.isEmpty()) {
      return ElementJson.read(type, from);
    }
    ArrayNode array = JSON.arrayNode();
    for (int i = 0; i < dimensions.get(0); i++) {
      array.add(readTensor(type, dimensions.subList(1, dimensions.size()), from));
    }
    return array;
  }

  /**
   * Returns the bytes of a value.
   *
   * @throws IllegalArgumentException if the JSON is no value of the type
   */
  public static byte[] write(NestedType type, JsonNode node) {
    NestedColumn column = new NestedColumn(type);
    put(column, node);
    return column.toBytes(new byte[0]);
  }

  private static void put(NestedColumn column, JsonNode node) {
    NestedType type = column.type();
    if (node.isNull()) {
      column.putAbsent();
    } else if (type instanceof NestedType.Leaf leaf) {
      byte[] bytes = leaf(leaf, node);
      column.put(bytes, 0, bytes.length);
    } else if (type instanceof NestedType.StructOf struct && node.isObject()) {
      putStruct(column, struct, node);
    } else if (type instanceof NestedType.ListOf && node.isArray()) {
      node.forEach(element -> put(column.child(0), element));
      column.endValue();
    } else if (type instanceof NestedType.MapOf && node.isArray()) {
      for (JsonNode entry : node) {
        if (!entry.isArray() || entry.size() != 2) {
          throw unfit(type, entry, "an array of a key and a value");
        }
        put(column.child(0), entry.get(0));
        put(column.child(1), entry.get(1));
      }
      column.endValue();
    } else {
      throw unfit(type, node, type instanceof NestedType.StructOf ? "an object" : "an array");
    }
  }

  private static void putStruct(NestedColumn column, NestedType.StructOf struct, JsonNode node) {
    int found = 0;
    for (int k = 0; k < struct.members().size(); k++) {
      JsonNode member = node.get(struct.members().get(k).name());
      found += member == null ? 0 : 1;
      put(column.child(k), member == null ? JSON.nullNode() : member);
    }
    if (found != node.size()) {
      for (Iterator<String> names = node.fieldNames(); names.hasNext(); ) {
        String name = names.next();
        if (struct.members().stream().noneMatch(member -> member.name().equals(name))) {
          throw new IllegalArgumentException("'" + name + "' is no member of " + struct);
        }
      }
    }
    column.endValue();
  }

  private static byte[] leaf(NestedType.Leaf leaf, JsonNode node) {
    if (leaf.isVariable()) {
      if (!node.isTextual()) {
        throw unfit(leaf, node, "a string");
      }
      return leaf.element().equals(ElementType.UTF8)
          ? Utf8.bytes("(nested)", node.textValue())
          : Base64.getDecoder().decode(node.textValue());
    }
    ByteBuffer to = ByteBuffer.allocate(leaf.widthBytes()).order(ByteOrder.LITTLE_ENDIAN);
    putTensor(leaf.element(), leaf.shape().dimensions(), node, to);
    return to.array();
  }

  private static void putTensor(
      ElementType type, List<Integer> dimensions, JsonNode node, ByteBuffer to) {
    if (dimensions.isEmpty()) {
      ElementJson.write(type, node, to);
      return;
    }
    if (!node.isArray() || node.size() != dimensions.get(0)) {
      throw new IllegalArgumentException(
          node + " is no array of " + dimensions.get(0) + " as the shape asks for");
    }
    node.forEach(child -> putTensor(type, dimensions.subList(1, dimensions.size()), child, to));
  }

  private static IllegalArgumentException unfit(NestedType type, JsonNode node, String expected) {
    return new IllegalArgumentException(node + " is no " + type + ": expected " + expected);
  }
}
