package io.zrecord.spark.options;

import java.util.Locale;
import java.util.function.Function;

/** Parses the value of an option, so that an error names the option. Stateless. */
public final class OptionValue {
  private OptionValue() {}

  /**
   * Parses the value of an option.
   *
   * @throws IllegalArgumentException if the parser throws one; the message names the option and the
   *     value
   */
  public static <T> T parse(String key, String text, Function<String, T> parser) {
    try {
      return parser.apply(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "Option " + key + " has the value '" + text + "': " + e.getMessage(), e);
    }
  }

  /** Parses {@code true} or {@code false}. */
  static boolean bool(String key, String text) {
    return parse(key, text, value -> switch (value.strip().toLowerCase(Locale.ROOT)) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("use true or false");
    });
  }
}
