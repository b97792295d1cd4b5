package io.zrecord.nested;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.internal.format.FieldJson;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.Shape;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Writes the file of nested values that every reader is tested with: type, bytes and content of
 * each. From the freeze of the format on, the file is never written again.
 */
final class GoldenNested {
  static final Path FILE = Path.of("src/test/resources/golden/v2-nested.json");
  static final int COUNT = 40;
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private GoldenNested() {}

  public static void main(String[] args) throws IOException {
    ArrayNode cases = JSON.arrayNode();
    for (int seed = 1; seed <= COUNT; seed++) {
      RandomNested random = new RandomNested(seed);
      NestedType type = random.root();
      NestedColumn column = new NestedColumn(type);
      Object value = random.value(type);
      RandomNested.put(column, value);
      cases
          .addObject()
          .put("bytes", HexFormat.of().formatHex(column.toBytes(new byte[0])))
          .<ObjectNode>set("field", FieldJson.write(field(type)))
          .set("value", json(value));
    }
    new ObjectMapper()
        .writerWithDefaultPrettyPrinter()
        .writeValue(Files.newBufferedWriter(args.length > 0 ? Path.of(args[0]) : FILE), cases);
  }

  static FieldSpec field(NestedType type) {
    return new FieldSpec(1, "value", ElementType.nested(type), Shape.scalar(), Compression.RAW);
  }

  /** Returns content: absent null, decimals as text, bytes as hexadecimal digits after 0x. */
  static JsonNode json(Object value) {
    if (value == null) {
      return JSON.nullNode();
    }
    if (value instanceof byte[] bytes) {
      return JSON.textNode("0x" + HexFormat.of().formatHex(bytes));
    }
    if (value instanceof Map.Entry<?, ?> entry) {
      return JSON.arrayNode().add(json(entry.getKey())).add(json(entry.getValue()));
    }
    if (value instanceof Map<?, ?> members) {
      ObjectNode object = JSON.objectNode();
      members.forEach((name, member) -> object.set((String) name, json(member)));
      return object;
    }
    if (value instanceof List<?> elements) {
      ArrayNode array = JSON.arrayNode();
      elements.forEach(element -> array.add(json(element)));
      return array;
    }
    if (value instanceof BigDecimal decimal) {
      return JSON.textNode(decimal.toPlainString());
    }
    if (value instanceof String text) {
      return JSON.textNode(text);
    }
    if (value instanceof Boolean flag) {
      return JSON.booleanNode(flag);
    }
    if (value instanceof Float || value instanceof Double) {
      return JSON.numberNode(((Number) value).doubleValue());
    }
    return JSON.numberNode(new BigInteger(value.toString()));
  }
}
