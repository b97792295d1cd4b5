package io.zrecord.cli.console;

import java.util.Locale;

/**
 * Makes text safe for a terminal. A dataset's content is untrusted, and a control character could
 * rewrite the screen. Stateless.
 */
public final class Printable {
  private Printable() {}

  /** Returns the text with control characters as {@code \\u001b}. */
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
