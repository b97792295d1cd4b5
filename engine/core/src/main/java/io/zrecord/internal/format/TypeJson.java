package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The members {@code dtype}, {@code shape} and {@code type} of a field (FORMAT.md section 8). A
 * tree that this release does not know makes the field unreadable; a tree that contradicts itself
 * is damage.
 */
final class TypeJson {
  private static final String NESTED = "nested";

  private TypeJson() {}

  /** Thrown inside this class for a tree of a later release. */
  private static final class UnknownTypeException extends Exception {
    private static final long serialVersionUID = 1L;

    UnknownTypeException(String what) {
      super(what);
    }
  }

  static void write(ObjectNode node, ElementType type, Shape shape) {
    NestedType tree = type.tree();
    if (tree != null) {
      node.put("dtype", NESTED).set("type", write(tree));
      return;
    }
    node.put("dtype", type.toString());
    write(node, shape);
  }

  private static void write(ObjectNode node, Shape shape) {
    if (!shape.isScalar()) {
      ArrayNode dimensions = node.putArray("shape");
      shape.dimensions().forEach(dimensions::add);
    }
  }

  private static JsonNode write(NestedType type) {
    ObjectNode node = SealedJson.object();
    if (type instanceof NestedType.Leaf leaf) {
      if (leaf.shape().isScalar()) {
        return TextNode.valueOf(leaf.element().toString());
      }
      node.put("dtype", leaf.element().toString());
      write(node, leaf.shape());
    } else if (type instanceof NestedType.ListOf list) {
      node.set("list", write(list.element()));
    } else if (type instanceof NestedType.MapOf map) {
      node.putArray("map").add(write(map.key())).add(write(map.value()));
    } else if (type instanceof NestedType.StructOf struct) {
      ArrayNode members = node.putArray("struct");
      for (NestedType.Member member : struct.members()) {
        members.addObject().put("name", member.name()).set("type", write(member.type()));
      }
    }
    return node;
  }

  /** Returns what of a field's type this release does not know, if anything. */
  static Optional<String> unknown(JsonObject json) {
    if (!json.string("dtype").equals(NESTED)) {
      return FieldJson.unknown(json, "dtype", name -> ElementType.parse(name).toString());
    }
    try {
      tree(json);
      return Optional.empty();
    } catch (UnknownTypeException e) {
      return Optional.of("type " + e.getMessage());
    }
  }

  /** Reads the type of a field that is known. */
  static ElementType read(JsonObject json) {
    if (!json.string("dtype").equals(NESTED)) {
      return json.parse("dtype", ElementType::parse);
    }
    if (json.has("shape")) {
      throw json.corrupt("a nested field has a shape");
    }
    try {
      return tree(json);
    } catch (UnknownTypeException e) {
      throw json.corrupt("the type " + e.getMessage() + " is unknown");
    }
  }

  static Shape shape(JsonObject json) {
    try {
      return json.has("shape")
          ? new Shape(json.integers("shape", -1, Integer.MAX_VALUE))
          : Shape.scalar();
    } catch (IllegalArgumentException e) {
      throw json.corrupt("the shape of a field is invalid: " + e.getMessage());
    }
  }

  private static ElementType tree(JsonObject json) throws UnknownTypeException {
    if (!json.has("type")) {
      throw json.corrupt("a nested field has no type");
    }
    NestedType tree = read(json, json.node().get("type"), 0);
    try {
      return ElementType.nested(tree);
    } catch (IllegalArgumentException e) {
      throw new UnknownTypeException("beyond the limits: " + e.getMessage());
    }
  }

  /** The depth of sealed JSON is bounded, and so is the depth of this recursion. */
  private static NestedType read(JsonObject json, JsonNode node, int depth)
      throws UnknownTypeException {
    if (depth > NestedType.MAX_DEPTH) {
      throw new UnknownTypeException("with more than " + NestedType.MAX_DEPTH + " levels");
    }
    if (node.isTextual()) {
      return leaf(json, node.textValue(), Shape.scalar());
    }
    if (!(node instanceof ObjectNode object)) {
      throw json.corrupt("a type is neither a name nor an object");
    }
    JsonObject type = new JsonObject(json.resource(), object);
    try {
      if (type.has("dtype")) {
        return leaf(type, type.string("dtype"), shape(type));
      }
      if (type.has("list")) {
        return NestedType.listOf(read(json, object.get("list"), depth + 1));
      }
      if (type.has("map")) {
        if (!(object.get("map") instanceof ArrayNode map) || map.size() != 2) {
          throw json.corrupt("a map is no array of two types");
        }
        return NestedType.mapOf(
            read(json, map.get(0), depth + 1), read(json, map.get(1), depth + 1));
      }
      if (type.has("struct")) {
        return struct(type, depth);
      }
    } catch (IllegalArgumentException e) {
      throw json.corrupt("a type is invalid: " + e.getMessage());
    }
    throw new UnknownTypeException(shown(String.valueOf(object)));
  }

  private static NestedType struct(JsonObject type, int depth) throws UnknownTypeException {
    List<NestedType.Member> members = new ArrayList<>();
    for (JsonObject member : type.objects("struct")) {
      if (!member.has("type")) {
        throw type.corrupt("a member of a struct has no type");
      }
      members.add(new NestedType.Member(
          member.string("name"), read(member, member.node().get("type"), depth + 1)));
    }
    return new NestedType.StructOf(members);
  }

  private static NestedType leaf(JsonObject json, String dtype, Shape shape)
      throws UnknownTypeException {
    ElementType element;
    try {
      element = ElementType.parse(dtype);
    } catch (IllegalArgumentException e) {
      throw new UnknownTypeException(shown(dtype));
    }
    try {
      return NestedType.of(element, shape);
    } catch (IllegalArgumentException e) {
      throw json.corrupt("a type is invalid: " + e.getMessage());
    }
  }

  private static String shown(String text) {
    return text.length() > 64 ? text.substring(0, 64) + "…" : text;
  }
}
