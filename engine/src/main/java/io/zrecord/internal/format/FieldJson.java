package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Shape;
import java.util.OptionalInt;

/** Reads and writes the field specs of meta files and manifests (FORMAT.md sections 3 and 7). */
public final class FieldJson {
  private FieldJson() {}

  public static ObjectNode write(FieldSpec field) {
    ObjectNode node = SealedJson.object();
    node.put("id", field.id())
        .put("name", field.name())
        .put("dtype", field.type().toString());
    if (!field.shape().isScalar()) {
      ArrayNode shape = node.putArray("shape");
      field.shape().dimensions().forEach(shape::add);
    }
    write(node, field.compression());
    if (!field.attributes().isEmpty()) {
      ObjectNode attributes = node.putObject("attributes");
      field.attributes().forEach(attributes::put);
    }
    return node;
  }

  static void write(ObjectNode node, Compression compression) {
    node.put("compress", compression.codec().toString());
    if (compression.codec() != Codec.RAW) {
      node.put("level", compression.level());
    }
  }

  public static FieldSpec read(JsonObject json) {
    int id = (int) json.integer("id", 1, Integer.MAX_VALUE);
    String name = json.string("name");
    ElementType type = json.parse("dtype", ElementType::parse);
    Compression compression = compression(json);
    try {
      Shape shape = json.has("shape")
          ? new Shape(json.integers("shape", -1, Integer.MAX_VALUE))
          : Shape.scalar();
      return new FieldSpec(id, name, type, shape, compression, json.strings("attributes"));
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw json.corrupt("field " + id + " is invalid: " + e.getMessage());
    }
  }

  /**
   * Returns the compression. The level is informative: a level that this release cannot write with
   * is ignored.
   */
  static Compression compression(JsonObject json) {
    Codec codec = json.parse("compress", Codec::parse);
    OptionalInt level = json.optionalInteger("level", Integer.MIN_VALUE, Integer.MAX_VALUE);
    try {
      return level.isPresent() ? new Compression(codec, level.getAsInt()) : Compression.of(codec);
    } catch (IllegalArgumentException e) {
      return Compression.of(codec);
    }
  }
}
