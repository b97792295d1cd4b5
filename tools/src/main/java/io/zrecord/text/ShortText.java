package io.zrecord.text;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Formats values for people: short values whole, and the beginning of long values. Stateless. */
public final class ShortText {
  private static final int MAX_ELEMENTS = 16;
  private static final int MAX_BYTES = 32;
  private static final int MAX_CHARACTERS = 200;

  private ShortText() {}

  /** Returns the value as one line, which may contain control characters. */
  public static String of(FieldSpec field, byte[] value) {
    if (field.type().equals(ElementType.BYTES)) {
      int shown = Math.min(MAX_BYTES, value.length);
      return value.length + " bytes " + HexFormat.of().formatHex(value, 0, shown)
          + (shown < value.length ? "…" : "");
    }
    if (field.type().equals(ElementType.UTF8)) {
      // A character has at most four bytes.
      int bytes = Math.min(value.length, 4 * MAX_CHARACTERS);
      String text = new String(value, 0, bytes, StandardCharsets.UTF_8);
      boolean isWhole = bytes == value.length && text.length() <= MAX_CHARACTERS;
      return "\"" + (isWhole ? text : text.substring(0, MAX_CHARACTERS) + "…") + "\"";
    }
    if (field.type().tree() != null) {
      return nested(field, value);
    }
    return field.shape().isScalar()
        ? ElementJson.read(field.type(), littleEndian(value)).asText()
        : tensor(field, value);
  }

  private static String nested(FieldSpec field, byte[] value) {
    String text = NestedJson.read("field '" + field.name() + "'", field.type().requireTree(), value)
        .toString();
    return text.length() <= MAX_CHARACTERS ? text : text.substring(0, MAX_CHARACTERS) + "…";
  }

  private static String tensor(FieldSpec field, byte[] value) {
    ByteBuffer from = littleEndian(value);
    List<String> elements = new ArrayList<>();
    while (from.hasRemaining() && elements.size() < MAX_ELEMENTS) {
      elements.add(ElementJson.read(field.type(), from).asText());
    }
    int count = value.length / field.type().widthBytes().orElseThrow();
    return field.type() + field.shape().toString() + " of " + count + ": "
        + String.join(" ", elements) + (count > elements.size() ? " …" : "");
  }

  private static ByteBuffer littleEndian(byte[] value) {
    return ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
  }
}
