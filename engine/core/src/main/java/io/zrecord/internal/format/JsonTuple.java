package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;

/**
 * An untrusted JSON array whose elements mean different things, read element by element. What does
 * not fit is a {@link CorruptDataException} that names the file and the member.
 */
public final class JsonTuple {
  private final JsonObject owner;
  private final String name;
  private final ArrayNode node;

  private JsonTuple(JsonObject owner, String name, ArrayNode node) {
    this.owner = owner;
    this.name = name;
    this.node = node;
  }

  /** Returns a member that is an array of {@code least} to {@code most} elements. */
  public static JsonTuple of(JsonObject json, String name, int least, int most) {
    return of(json, name, json.node().get(name), least, most);
  }

  /** Returns a member that is an array of such arrays. */
  public static List<JsonTuple> all(JsonObject json, String name, int least, int most) {
    List<JsonTuple> tuples = new ArrayList<>();
    for (JsonNode element : of(json, name, 0, Integer.MAX_VALUE).node) {
      tuples.add(of(json, name, element, least, most));
    }
    return tuples;
  }

  private static JsonTuple of(
      JsonObject json,
      String name,
      @org.jspecify.annotations.Nullable JsonNode value,
      int least,
      int most) {
    if (value instanceof ArrayNode array && array.size() >= least && array.size() <= most) {
      return new JsonTuple(json, name, array);
    }
    throw corrupt(json, name, value, "an array of " + least + " to " + most + " elements");
  }

  public int size() {
    return node.size();
  }

  /** Returns an integer within {@code [lowest, highest]}. */
  public long integer(int i, long lowest, long highest) {
    JsonNode value = node.get(i);
    if (!value.isIntegralNumber()
        || !value.canConvertToLong()
        || value.longValue() < lowest
        || value.longValue() > highest) {
      throw corrupt("an integer from " + lowest + " to " + highest + " as element " + i);
    }
    return value.longValue();
  }

  /** Returns a uuid in canonical form. */
  public UUID uuid(int i) {
    String text = node.get(i).asText();
    try {
      UUID uuid = UUID.fromString(text);
      if (node.get(i).isTextual() && uuid.toString().equals(text)) {
        return uuid;
      }
    } catch (IllegalArgumentException e) {
      // Reported below.
    }
    throw corrupt("a uuid in lower case as element " + i);
  }

  /** Returns a checksum from eight hexadecimal digits. */
  public int checksum(int i) {
    JsonNode value = node.get(i);
    if (!value.isTextual() || !value.textValue().matches("[0-9a-f]{8}")) {
      throw corrupt("eight hexadecimal digits as element " + i);
    }
    return HexFormat.fromHexDigits(value.textValue());
  }

  /** Returns an element that is an array of objects. */
  public List<JsonObject> objects(int i) {
    List<JsonObject> objects = new ArrayList<>();
    if (node.get(i) instanceof ArrayNode array) {
      for (JsonNode element : array) {
        if (element instanceof ObjectNode object) {
          objects.add(new JsonObject(owner.resource(), object));
        }
      }
      if (objects.size() == array.size()) {
        return objects;
      }
    }
    throw corrupt("an array of objects as element " + i);
  }

  /** Returns the exception for an array that is not what was expected. */
  public CorruptDataException corrupt(String expected) {
    return corrupt(owner, name, node, expected);
  }

  private static CorruptDataException corrupt(
      JsonObject json,
      String name,
      @org.jspecify.annotations.Nullable JsonNode value,
      String expected) {
    String found = value == null ? "missing" : value.toString();
    String shown = found.length() > 80 ? found.substring(0, 80) + "…" : found;
    return json.corrupt("member '" + name + "' is " + shown + ", expected " + expected);
  }
}
