package io.zrecord.internal.format;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.Set;

/** JSON that ends with its own checksum (FORMAT.md section 2). Stateless and thread-safe. */
public final class SealedJson {
  /** Longest file accepted, in bytes. */
  public static final int MAX_BYTES = 64 << 20;

  private static final int MAX_DEPTH = 32;
  private static final int MAX_STRING = 1 << 20;
  private static final int MAX_NAME = 1 << 10;
  private static final int MAX_DIGITS = 1000;
  private static final String SEAL_START = ",\"crc32c\":\"";
  private static final String SEAL_END = "\"}\n";
  private static final int SEAL_BYTES = SEAL_START.length() + 8 + SEAL_END.length();
  private static final ObjectMapper MAPPER = new ObjectMapper(JsonFactory.builder()
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .streamReadConstraints(StreamReadConstraints.builder()
              .maxNestingDepth(MAX_DEPTH)
              .maxStringLength(MAX_STRING)
              .maxNumberLength(2 * MAX_DIGITS)
              .build())
          .build())
      .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);

  private SealedJson() {}

  /** Returns a new empty object. */
  public static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** Parses an object that was part of a file that {@link #open} accepted. */
  static ObjectNode parse(String json) {
    try {
      return (ObjectNode) MAPPER.readTree(json);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the sealed file of an object that is not empty and has no member {@code crc32c}. */
  public static byte[] seal(ObjectNode object) {
    ByteArrayOutputStream out = new ByteArrayOutputStream(1024);
    try (JsonGenerator generator = MAPPER.getFactory().createGenerator(out)) {
      MAPPER.writeTree(generator, object);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    byte[] json = out.toByteArray();
    int end = json.length - 1;
    String seal = SEAL_START + HexFormat.of().toHexDigits(Crc32c.of(json, 0, end)) + SEAL_END;
    byte[] file = java.util.Arrays.copyOf(json, end + SEAL_BYTES);
    System.arraycopy(seal.getBytes(StandardCharsets.US_ASCII), 0, file, end, SEAL_BYTES);
    return file;
  }

  /** Returns the checksum at the end of a sealed file; {@link #open} tells whether it holds. */
  public static int checksum(String resource, byte[] file) {
    if (file.length > MAX_BYTES) {
      throw new CorruptDataException(
          resource,
          "Cannot read " + resource + ": it has " + file.length + " bytes, but at most " + MAX_BYTES
              + " are accepted; restore it from a copy");
    }
    if (file.length > SEAL_BYTES) {
      String seal =
          new String(file, file.length - SEAL_BYTES, SEAL_BYTES, StandardCharsets.ISO_8859_1);
      String digits = seal.substring(SEAL_START.length(), SEAL_START.length() + 8);
      if (seal.startsWith(SEAL_START) && seal.endsWith(SEAL_END) && digits.matches("[0-9a-f]{8}")) {
        return HexFormat.fromHexDigits(digits);
      }
    }
    throw new CorruptDataException(
        resource,
        "Cannot read " + resource
            + ": it does not end with its checksum, so it is damaged or was not written by zrecord; restore it from a copy");
  }

  /**
   * Checks the seal and parses the object.
   *
   * @param resource the file, for messages
   * @throws CorruptDataException if the seal, the syntax or a limit does not hold
   */
  public static JsonObject open(String resource, byte[] file) {
    requireSeal(resource, file);
    requireNumbers(resource, file);
    try (JsonParser parser = parser(file)) {
      if (MAPPER.readTree(parser) instanceof ObjectNode object && parser.nextToken() == null) {
        requireNames(resource, object);
        return new JsonObject(resource, object);
      }
      throw notAnObject(resource);
    } catch (IOException e) {
      throw notJson(resource, e);
    }
  }

  /**
   * Checks the seal and parses some members of the object only. Takes memory for these alone,
   * however many others there are.
   *
   * @param resource the file, for messages
   * @param names the members wanted; one that is missing from the file is missing from the result
   * @throws CorruptDataException if the seal, the syntax or a limit does not hold
   */
  public static JsonObject openMembers(String resource, byte[] file, Set<String> names) {
    requireSeal(resource, file);
    ObjectNode object = object();
    try (JsonParser parser = parser(file)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw notAnObject(resource);
      }
      for (String name = parser.nextFieldName(); name != null; name = parser.nextFieldName()) {
        parser.nextToken();
        if (names.contains(name)) {
          object.set(name, MAPPER.<JsonNode>readTree(parser));
        } else {
          parser.skipChildren();
        }
      }
      if (parser.nextToken() != null) {
        throw notAnObject(resource);
      }
      return new JsonObject(resource, object);
    } catch (IOException e) {
      throw notJson(resource, e);
    }
  }

  /**
   * Checks the seal alone.
   *
   * @param resource the file, for messages
   * @throws CorruptDataException if the seal does not hold
   */
  public static void requireSeal(String resource, byte[] file) {
    int stored = checksum(resource, file);
    int computed = Crc32c.of(file, 0, file.length - SEAL_BYTES);
    if (stored != computed) {
      throw new CorruptDataException(
          resource,
          "Cannot read " + resource + ": its checksum is "
              + HexFormat.of().toHexDigits(stored) + " but its content has "
              + HexFormat.of().toHexDigits(computed)
              + "; restore it from a copy");
    }
  }

  private static JsonParser parser(byte[] file) throws IOException {
    // Given bytes, the parser would guess the encoding and take a byte order mark.
    Reader utf8 =
        new InputStreamReader(new ByteArrayInputStream(file), StandardCharsets.UTF_8.newDecoder());
    return MAPPER.getFactory().createParser(utf8);
  }

  /** Requires numbers within the limit. Jackson counts digits in another way after a point. */
  private static void requireNumbers(String resource, byte[] file) {
    boolean isInString = false;
    int digits = 0;
    for (int i = 0; i < file.length; i++) {
      byte c = file[i];
      if (isInString) {
        isInString = c != '"';
        i += c == '\\' ? 1 : 0;
      } else if (c >= '0' && c <= '9') {
        if (++digits > MAX_DIGITS) {
          throw new CorruptDataException(
              resource,
              "Cannot read " + resource + ": a number has more than " + MAX_DIGITS
                  + " digits; restore it from a copy");
        }
      } else if (c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E') {
        digits = 0;
        isInString = c == '"';
      }
    }
  }

  /** Requires names of members within the limit, for which not every Jackson looks. */
  private static void requireNames(String resource, JsonNode node) {
    for (Iterator<String> names = node.fieldNames(); names.hasNext(); ) {
      int length = names.next().length();
      if (length > MAX_NAME) {
        throw new CorruptDataException(
            resource,
            "Cannot read " + resource + ": the name of a member has " + length
                + " characters, but at most " + MAX_NAME
                + " are accepted; restore it from a copy");
      }
    }
    node.forEach(child -> {
      if (child.isContainerNode()) {
        requireNames(resource, child);
      }
    });
  }

  private static CorruptDataException notAnObject(String resource) {
    return new CorruptDataException(
        resource, "Cannot read " + resource + ": it is not one JSON object");
  }

  private static CorruptDataException notJson(String resource, IOException e) {
    return new CorruptDataException(
        resource, "Cannot read " + resource + ": not valid JSON: " + firstLine(e), e);
  }

  private static String firstLine(IOException e) {
    return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
  }
}
