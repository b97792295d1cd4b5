package io.zrecord.serving;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.zrecord.Storages;
import io.zrecord.storage.Storage;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The members of a JSON object that a frame carries. A member that nobody asks for is refused. */
final class Arguments {
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final JsonNode json;
  private final Set<String> unused = new TreeSet<>();

  private Arguments(JsonNode json) {
    this.json = json;
    json.fieldNames().forEachRemaining(unused::add);
  }

  static Arguments of(JsonNode json) {
    if (!json.isObject()) {
      throw new IllegalArgumentException(
          "A frame carries JSON that is no object: " + shortened(json.toString()));
    }
    return new Arguments(json);
  }

  static JsonNode parse(byte[] text) {
    try {
      JsonNode json = MAPPER.readTree(text);
      if (json == null || json.isMissingNode()) {
        throw new IllegalArgumentException("A frame carries no JSON; send an object");
      }
      return json;
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "A frame carries what is no JSON: " + e.getOriginalMessage(), e);
    } catch (IOException e) {
      throw new IllegalArgumentException("A frame carries JSON that cannot be read", e);
    }
  }

  String text(String name) {
    return optionalText(name).orElseThrow(() -> missing(name, "a string"));
  }

  Optional<String> optionalText(String name) {
    return find(name).map(node -> {
      if (!node.isTextual()) {
        throw wrong(name, node, "a string");
      }
      return node.textValue();
    });
  }

  long number(String name) {
    return optionalNumber(name).orElseThrow(() -> missing(name, "a whole number"));
  }

  Optional<Long> optionalNumber(String name) {
    return find(name).map(node -> {
      if (!node.isIntegralNumber() || !node.canConvertToLong()) {
        throw wrong(name, node, "a whole number");
      }
      return node.longValue();
    });
  }

  Optional<Double> optionalFraction(String name) {
    return find(name).map(node -> {
      if (!node.isNumber()) {
        throw wrong(name, node, "a number");
      }
      return node.doubleValue();
    });
  }

  boolean flag(String name) {
    return find(name)
        .map(node -> {
          if (!node.isBoolean()) {
            throw wrong(name, node, "true or false");
          }
          return node.booleanValue();
        })
        .orElse(false);
  }

  Map<String, String> strings(String name) {
    Map<String, String> strings = new TreeMap<>();
    find(name)
        .ifPresent(node -> node.fields().forEachRemaining(member -> {
          if (!member.getValue().isTextual()) {
            // The others may be secret.
            throw wrong(name + "." + member.getKey(), member.getValue(), "a string");
          }
          strings.put(member.getKey(), member.getValue().textValue());
        }));
    return strings;
  }

  Optional<JsonNode> find(String name) {
    unused.remove(name);
    JsonNode node = json.get(name);
    return node == null || node.isNull() ? Optional.empty() : Optional.of(node);
  }

  /** Returns the storage that the members {@code path} and {@code storageOptions} name. */
  Storage storage() {
    return Storages.at(text("path"), strings("storageOptions"));
  }

  /**
   * Requires that every member was asked for.
   *
   * @throws IllegalArgumentException if one was not
   */
  void requireUsed() {
    if (!unused.isEmpty()) {
      throw new IllegalArgumentException("Nobody knows '" + String.join("', '", unused)
          + "' here; install versions that belong together");
    }
  }

  private static IllegalArgumentException missing(String name, String wanted) {
    return new IllegalArgumentException("'" + name + "' is missing; it is " + wanted);
  }

  private static IllegalArgumentException wrong(String name, JsonNode node, String wanted) {
    return new IllegalArgumentException(
        "'" + name + "' is " + shortened(node.toString()) + "; it must be " + wanted);
  }

  private static String shortened(String text) {
    return text.length() <= 100 ? text : text.substring(0, 100) + "…";
  }
}
