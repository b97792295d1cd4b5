package io.zrecord.cli;

import java.util.Locale;

/** Text for a terminal. What stands in a dataset is not to be trusted, and a control character could rewrite the screen. Stateless. */
public final class Printable {
  private Printable() {}

  /** The text with control characters as {@code \\u001b}. */
  public static String of(String text) {
    if (text.codePoints().noneMatch(Character::isISOControl)) {
      return text;
    }
    StringBuilder shown = new StringBuilder();
    text.chars().forEach(c -> {
      if (Character.isISOControl(c)) {
        shown.append(String.format(Locale.ROOT, "\\u%04x", c));
      } else {
        shown.append((char) c);
      }
    });
    return shown.toString();
  }
}
