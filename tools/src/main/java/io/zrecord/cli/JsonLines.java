package io.zrecord.cli;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Utf8;
import io.zrecord.store.RecordValues;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads records of a store from lines of JSON. Belongs to one thread.
 *
 * <p>Design note: a line is read from its tokens, without a node for each number. If anything in
 * the line is unusual, errors included, {@link ValueJson} reads the line again as a tree. Only
 * {@link ValueJson} decides what is allowed and reports what is wrong.
 */
final class JsonLines {
  private static final ObjectReader PART =
      ValueJson.MAPPER.reader().without(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);
  private static final int FIRST_ROOM_BYTES = 1 << 12;
  private static final int MAX_ROOM_BYTES = Integer.MAX_VALUE - 8;

  private final RecordSchema schema;
  private byte[] bytes = new byte[FIRST_ROOM_BYTES];
  private ByteBuffer room = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);

  JsonLines(RecordSchema schema) {
    this.schema = schema;
  }

  /**
   * Sets the values that a line has.
   *
   * @throws IllegalArgumentException if the line is not an object of values that fit their fields
   */
  void read(String line, RecordValues values) {
    if (!isReadFromTokens(line, values.clear())) {
      readTree(line, values.clear());
    }
  }

  private void readTree(String line, RecordValues values) {
    JsonNode object;
    try {
      object = ValueJson.MAPPER.readTree(line);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("it is not JSON: " + e.getOriginalMessage(), e);
    }
    if (!object.isObject()) {
      throw new IllegalArgumentException("it is not a JSON object");
    }
    for (Iterator<Map.Entry<String, JsonNode>> members = object.fields(); members.hasNext(); ) {
      Map.Entry<String, JsonNode> member = members.next();
      FieldSpec field = schema.fields().get(schema.ordinal(member.getKey()));
      if (!member.getValue().isNull()) {
        values.set(field.name(), ValueJson.toBytes(field, member.getValue()));
      }
    }
  }

  private boolean isReadFromTokens(String line, RecordValues values) {
    try (JsonParser parser = ValueJson.MAPPER.createParser(line)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return false;
      }
      for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
        FieldSpec field = schema.fields().get(schema.ordinal(name));
        if (parser.nextToken() != JsonToken.VALUE_NULL) {
          byte[] value = value(field, parser);
          if (value == null) {
            return false;
          }
          values.set(name, value);
        }
      }
      return parser.currentToken() == JsonToken.END_OBJECT && parser.nextToken() == null;
    } catch (IOException | IllegalArgumentException e) {
      return false; // Reading the tree reports what is wrong.
    }
  }

  private byte @Nullable [] value(FieldSpec field, JsonParser parser) throws IOException {
    switch (field.type().kind()) {
      case UTF8 -> {
        return parser.currentToken() == JsonToken.VALUE_STRING
            ? Utf8.bytes(field.name(), parser.getText())
            : null;
      }
      case BYTES -> {
        return parser.currentToken() == JsonToken.VALUE_STRING
            ? Base64.getDecoder().decode(parser.getText())
            : null;
      }
      case U64, F16, BF16, DATE, TIMESTAMP, TIMESTAMP_NTZ, DECIMAL, NESTED -> {
        return ValueJson.toBytes(field, PART.readTree(parser));
      }
      default -> {
        room.clear();
        return isTensor(field.type(), field.shape().dimensions(), parser)
            ? Arrays.copyOf(bytes, room.position())
            : null;
      }
    }
  }

  private boolean isTensor(ElementType type, List<Integer> dimensions, JsonParser parser)
      throws IOException {
    if (dimensions.isEmpty()) {
      return isElement(type, parser);
    }
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      return false;
    }
    List<Integer> inner = dimensions.subList(1, dimensions.size());
    int count = 0;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      if (!isTensor(type, inner, parser)) {
        return false;
      }
      count++;
    }
    return dimensions.get(0) < 0 || dimensions.get(0) == count;
  }

  /** Puts the number of a token into the room. Tells whether the token is a number of the type. */
  private boolean isElement(ElementType type, JsonParser parser) throws IOException {
    if (room.remaining() < Long.BYTES) {
      if (bytes.length == MAX_ROOM_BYTES) {
        return false; // The tree says that the value is too long.
      }
      bytes = Arrays.copyOf(bytes, (int) Math.min(MAX_ROOM_BYTES, 2L * bytes.length));
      room = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).position(room.position());
    }
    JsonToken token = parser.currentToken();
    if (type.kind() == ElementType.Kind.BOOL) {
      room.put((byte) (token == JsonToken.VALUE_TRUE ? 1 : 0));
      return token == JsonToken.VALUE_TRUE || token == JsonToken.VALUE_FALSE;
    }
    boolean isInteger = token == JsonToken.VALUE_NUMBER_INT;
    switch (type.kind()) {
      case F32 -> room.putFloat((float) parser.getDoubleValue());
      case F64 -> room.putDouble(parser.getDoubleValue());
      default -> {
        // The parser throws an exception for a larger number.
        return isInteger && isInteger(type, parser.getLongValue());
      }
    }
    return isInteger || token == JsonToken.VALUE_NUMBER_FLOAT;
  }

  private boolean isInteger(ElementType type, long number) {
    switch (type.kind()) {
      case I8 -> room.put((byte) number);
      case U8 -> room.put((byte) number);
      case I16 -> room.putShort((short) number);
      case U16 -> room.putShort((short) number);
      case I32 -> room.putInt((int) number);
      case U32 -> room.putInt((int) number);
      case I64 -> room.putLong(number);
      default -> throw new IllegalArgumentException(type + " is no integer");
    }
    return switch (type.kind()) {
      case I8 -> number == (byte) number;
      case U8 -> number == (number & 0xff);
      case I16 -> number == (short) number;
      case U16 -> number == (number & 0xffff);
      case I32 -> number == (int) number;
      case U32 -> number == (number & 0xffff_ffffL);
      default -> true;
    };
  }
}
