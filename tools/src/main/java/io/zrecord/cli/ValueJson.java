package io.zrecord.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Utf8;
import io.zrecord.text.ElementJson;
import io.zrecord.text.NestedJson;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/**
 * Converts values to JSON and back: single elements as {@link ElementJson} does, tensors as nested
 * arrays, text as a string, bytes as a string in Base64, nested values as {@link NestedJson} does.
 * Thread-safe.
 */
final class ValueJson {
  static final ObjectMapper MAPPER = new ObjectMapper(JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .streamReadConstraints(
              StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build())
          .build())
      .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
      .enable(DeserializationFeature.USE_BIG_INTEGER_FOR_INTS);

  private ValueJson() {}

  static JsonNode of(FieldSpec field, byte[] value) {
    if (field.type().equals(ElementType.BYTES)) {
      return JsonNodeFactory.instance.textNode(Base64.getEncoder().encodeToString(value));
    }
    if (field.type().equals(ElementType.UTF8)) {
      return JsonNodeFactory.instance.textNode(new String(value, StandardCharsets.UTF_8));
    }
    if (field.type().tree() != null) {
      return NestedJson.read("field '" + field.name() + "'", field.type().requireTree(), value);
    }
    return tensor(
        field.type(),
        field.shape().dimensions(),
        ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN));
  }

  private static JsonNode tensor(ElementType type, List<Integer> dimensions, ByteBuffer from) {
    if (dimensions.isEmpty()) {
      return ElementJson.read(type, from);
    }
    List<Integer> inner = dimensions.subList(1, dimensions.size());
    int count = dimensions.get(0);
    ArrayNode array = JsonNodeFactory.instance.arrayNode();
    while (count < 0 ? from.hasRemaining() : array.size() < count) {
      array.add(tensor(type, inner, from));
    }
    return array;
  }

  /**
   * Returns the bytes of a value.
   *
   * @throws IllegalArgumentException if the value does not fit the field
   */
  static byte[] toBytes(FieldSpec field, JsonNode node) {
    try {
      if (field.type().equals(ElementType.UTF8) && node.isTextual()) {
        return Utf8.bytes(field.name(), node.textValue());
      }
      if (field.type().equals(ElementType.BYTES) && node.isTextual()) {
        return Base64.getDecoder().decode(node.textValue());
      }
      if (field.type().tree() != null) {
        return NestedJson.write(field.type().requireTree(), node);
      }
      if (field.type().widthBytes().isEmpty()) {
        throw new IllegalArgumentException(
            "expected a string" + (field.type().equals(ElementType.BYTES) ? " in Base64" : ""));
      }
      int width = field.type().widthBytes().getAsInt();
      ByteBuffer to =
          ByteBuffer.allocate(lengthBytes(width, leaves(node))).order(ByteOrder.LITTLE_ENDIAN);
      writeTensor(field.type(), field.shape().dimensions(), node, to);
      return to.array();
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "A value does not fit field '" + field.name() + "' of type " + field.type()
              + (field.shape().isScalar() ? "" : field.shape().toString()) + ": "
              + e.getMessage(),
          e);
    }
  }

  private static int lengthBytes(int width, int count) {
    long bytes = (long) width * count;
    if (bytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          bytes + " bytes are more than a value has, which is " + Integer.MAX_VALUE);
    }
    return (int) bytes;
  }

  private static int leaves(JsonNode node) {
    if (!node.isArray()) {
      return 1;
    }
    int count = 0;
    for (JsonNode child : node) {
      count = Math.addExact(count, leaves(child));
    }
    return count;
  }

  private static void writeTensor(
      ElementType type, List<Integer> dimensions, JsonNode node, ByteBuffer to) {
    if (dimensions.isEmpty()) {
      if (node.isArray()) {
        throw new IllegalArgumentException("an array is nested deeper than the shape");
      }
      ElementJson.write(type, node, to);
      return;
    }
    int expected = dimensions.get(0);
    if (!node.isArray() || (expected >= 0 && node.size() != expected)) {
      throw new IllegalArgumentException("expected an array"
          + (expected < 0 ? "" : " of " + expected) + " where there is "
          + (node.isArray() ? "one of " + node.size() : node.toString()));
    }
    for (JsonNode child : node) {
      writeTensor(type, dimensions.subList(1, dimensions.size()), child, to);
    }
  }

  /**
   * Returns the bytes of a value on the command line: text and bytes as they are, numbers and
   * arrays as in JSON, dates and times without quotes.
   *
   * @throws IllegalArgumentException if the value does not fit the field
   */
  static byte[] parse(FieldSpec field, String text) {
    if (field.type().widthBytes().isEmpty() && field.type().tree() == null) {
      return text.getBytes(StandardCharsets.UTF_8);
    }
    boolean isQuoted = field.shape().isScalar()
        && switch (field.type().kind()) {
          case DATE, TIMESTAMP, TIMESTAMP_NTZ, DECIMAL -> true;
          default -> text.endsWith("NaN") || text.endsWith("Infinity");
        };
    try {
      return toBytes(
          field, isQuoted ? JsonNodeFactory.instance.textNode(text) : MAPPER.readTree(text));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "Cannot read '" + text + "' as a value of field '" + field.name() + "' of type "
              + field.type() + ": write numbers and arrays as in JSON, such as [[1,2],[3,4]]",
          e);
    }
  }
}
