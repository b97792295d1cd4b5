package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.UnsupportedFormatException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An untrusted JSON object, read member by member. A member that is missing, of the wrong kind or
 * out of range is a {@link CorruptDataException} that names the file and the member.
 *
 * @param resource the file, for messages
 * @param node the object
 */
public record JsonObject(String resource, ObjectNode node) {
  /** The format version that this release reads and writes. */
  public static final int FORMAT_VERSION = 2;

  /**
   * Checks the members {@code format} and {@code features} of a file.
   *
   * @throws UnsupportedFormatException if the format is another one than that of this release, or
   *     readers must know a feature that this release does not know
   */
  public JsonObject requireFormat() {
    HeaderVersion.requireKnown(resource, integer("format", 1, Integer.MAX_VALUE));
    Features.of(this).requireReadable(resource);
    return this;
  }

  /**
   * Returns the members that this release does not know, as a JSON object; empty if there are none.
   * Whoever writes the object again adds them with {@link #withMembers}.
   */
  public String unknown(Set<String> known) {
    ObjectNode unknown = null;
    for (Iterator<Map.Entry<String, JsonNode>> members = node.fields(); members.hasNext(); ) {
      Map.Entry<String, JsonNode> member = members.next();
      if (!known.contains(member.getKey())) {
        unknown = unknown == null ? SealedJson.object() : unknown;
        unknown.set(member.getKey(), member.getValue());
      }
    }
    return unknown == null ? "" : unknown.toString();
  }

  /**
   * Adds members to an object that is to be written.
   *
   * @param members as {@link #unknown} returned them
   */
  public static ObjectNode withMembers(ObjectNode node, String members) {
    if (!members.isEmpty()) {
      node.setAll(SealedJson.parse(members));
    }
    return node;
  }

  public boolean has(String name) {
    return node.has(name);
  }

  /** Returns an integer within {@code [lowest, highest]}. */
  public long integer(String name, long lowest, long highest) {
    return integer(name, node.get(name), lowest, highest);
  }

  public String string(String name) {
    JsonNode value = node.get(name);
    if (value == null || !value.isTextual()) {
      throw corrupt(name, value, "a string");
    }
    return value.textValue();
  }

  public UUID uuid(String name) {
    return parse(name, text -> {
      UUID uuid = UUID.fromString(text);
      if (!uuid.toString().equals(text)) {
        throw new IllegalArgumentException("not in canonical form");
      }
      return uuid;
    });
  }

  /** Returns a uuid member, which may be missing. */
  public Optional<UUID> optionalUuid(String name) {
    return has(name) ? Optional.of(uuid(name)) : Optional.empty();
  }

  /** Returns a checksum from eight hexadecimal digits. */
  public int checksum(String name) {
    return parse(name, text -> {
      if (!text.matches("[0-9a-f]{8}")) {
        throw new IllegalArgumentException("not eight hexadecimal digits");
      }
      return HexFormat.fromHexDigits(text);
    });
  }

  /**
   * Returns a string as {@code parser} understands it. An {@link IllegalArgumentException} of the
   * parser becomes corruption.
   */
  public <T> T parse(String name, Function<String, T> parser) {
    String text = string(name);
    try {
      return parser.apply(text);
    } catch (IllegalArgumentException e) {
      throw new CorruptDataException(
          resource,
          "Cannot read " + resource + ": member '" + name + "' is '" + text + "': "
              + e.getMessage(),
          e);
    }
  }

  public JsonObject object(String name) {
    JsonNode value = node.get(name);
    if (value instanceof ObjectNode object) {
      return new JsonObject(resource, object);
    }
    throw corrupt(name, value, "an object");
  }

  public List<JsonObject> objects(String name) {
    List<JsonObject> objects = new ArrayList<>();
    for (JsonNode element : array(name)) {
      if (!(element instanceof ObjectNode object)) {
        throw corrupt(name, element, "an array of objects");
      }
      objects.add(new JsonObject(resource, object));
    }
    return objects;
  }

  /** Returns an array of arrays of {@code width} integers, each within {@code [0, 2⁶³)}. */
  public List<long[]> tuples(String name, int width) {
    return tuples(name, width, width);
  }

  /** Returns an array of arrays of some integers each, all within {@code [0, 2⁶³)}. */
  List<long[]> tuples(String name, int least, int most) {
    List<long[]> tuples = new ArrayList<>();
    for (JsonNode element : array(name)) {
      if (!element.isArray() || element.size() < least || element.size() > most) {
        String width = least == most ? String.valueOf(least) : least + " to " + most;
        throw corrupt(name, element, "an array of arrays of " + width + " integers");
      }
      long[] tuple = new long[element.size()];
      for (int i = 0; i < tuple.length; i++) {
        tuple[i] = integer(name, element.get(i), 0, Long.MAX_VALUE);
      }
      tuples.add(tuple);
    }
    return tuples;
  }

  /** Returns an array of integers within {@code [lowest, highest]}. */
  public List<Integer> integers(String name, int lowest, int highest) {
    List<Integer> integers = new ArrayList<>();
    for (JsonNode element : array(name)) {
      integers.add((int) integer(name, element, lowest, highest));
    }
    return integers;
  }

  /** Returns an array of strings. */
  List<String> texts(String name) {
    List<String> texts = new ArrayList<>();
    for (JsonNode element : array(name)) {
      if (!element.isTextual()) {
        throw corrupt(name, element, "an array of strings");
      }
      texts.add(element.textValue());
    }
    return texts;
  }

  /** Returns an array of at least one element, each a string or null. */
  public List<@Nullable String> textsOrNull(String name) {
    List<@Nullable String> texts = new ArrayList<>();
    for (JsonNode element : array(name)) {
      if (!element.isTextual() && !element.isNull()) {
        throw corrupt(name, element, "an array of strings and nulls");
      }
      texts.add(element.textValue());
    }
    if (texts.isEmpty()) {
      throw corrupt(name, node.get(name), "at least one element");
    }
    return texts;
  }

  /** Returns an object of strings; empty if the member is missing. */
  public Map<String, String> strings(String name) {
    Map<String, String> strings = new TreeMap<>();
    if (has(name)) {
      JsonObject object = object(name);
      for (Iterator<String> names = object.node.fieldNames(); names.hasNext(); ) {
        String key = names.next();
        strings.put(key, object.string(key));
      }
    }
    return strings;
  }

  /** Returns an object of integers ≥ 0; empty if the member is missing. */
  public Map<String, Long> integerMap(String name) {
    Map<String, Long> integers = new TreeMap<>();
    if (has(name)) {
      JsonObject object = object(name);
      for (Iterator<String> names = object.node.fieldNames(); names.hasNext(); ) {
        String key = names.next();
        integers.put(key, object.integer(key, 0, Long.MAX_VALUE));
      }
    }
    return integers;
  }

  /** Returns an integer member, which may be missing. */
  public OptionalInt optionalInteger(String name, int lowest, int highest) {
    return has(name) ? OptionalInt.of((int) integer(name, lowest, highest)) : OptionalInt.empty();
  }

  /** Returns a member that is true or false; the given value if the member is missing. */
  public boolean flag(String name, boolean missing) {
    JsonNode value = node.get(name);
    if (value == null) {
      return missing;
    }
    if (!value.isBoolean()) {
      throw corrupt("member '" + name + "' is neither true nor false");
    }
    return value.booleanValue();
  }

  /** Returns an integer member, which may be missing. */
  public OptionalLong optionalLong(String name, long lowest, long highest) {
    return has(name) ? OptionalLong.of(integer(name, lowest, highest)) : OptionalLong.empty();
  }

  /** Returns the exception for content that contradicts itself. */
  public CorruptDataException corrupt(String reason) {
    return new CorruptDataException(resource, "Cannot read " + resource + ": " + reason);
  }

  private ArrayNode array(String name) {
    JsonNode value = node.get(name);
    if (value instanceof ArrayNode array) {
      return array;
    }
    throw corrupt(name, value, "an array");
  }

  private long integer(
      String name, @org.jspecify.annotations.Nullable JsonNode value, long lowest, long highest) {
    if (value == null || !value.isIntegralNumber() || !value.canConvertToLong()) {
      throw corrupt(name, value, "an integer");
    }
    long number = value.longValue();
    if (number < lowest || number > highest) {
      throw corrupt(name, value, "an integer from " + lowest + " to " + highest);
    }
    return number;
  }

  private CorruptDataException corrupt(
      String name, @org.jspecify.annotations.Nullable JsonNode value, String expected) {
    String found = value == null ? "missing" : value.toString();
    String shown = found.length() > 80 ? found.substring(0, 80) + "…" : found;
    return corrupt("member '" + name + "' is " + shown + ", expected " + expected);
  }
}
