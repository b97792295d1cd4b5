package io.zrecord.schema;

import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Converts texts to the bytes of a {@code utf8} value. UTF-8 has no half of a surrogate pair, and
 * the JDK would silently put a question mark in its place. Stateless.
 */
public final class Utf8 {
  private Utf8() {}

  /**
   * Returns the bytes of a text.
   *
   * @param field the field that takes the text, for the message
   * @throws IllegalArgumentException if the text has half a surrogate pair
   */
  public static byte[] bytes(String field, String text) {
    for (int i = 0; i < text.length(); i++) {
      char unit = text.charAt(i);
      if (Character.isSurrogate(unit)) {
        boolean isPair = Character.isHighSurrogate(unit)
            && i + 1 < text.length()
            && Character.isLowSurrogate(text.charAt(i + 1));
        if (!isPair) {
          throw new IllegalArgumentException("A text for field '" + field + "' has "
              + "\\u" + HexFormat.of().toHexDigits(unit) + " at character " + i
              + ", half of a surrogate pair, which is no text; correct it, or store the text as"
              + " bytes");
        }
        i++;
      }
    }
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
