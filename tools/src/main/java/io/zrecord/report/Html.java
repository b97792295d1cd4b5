package io.zrecord.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.Locale;
import java.util.Set;

/**
 * Writes well-formed HTML that cannot carry a script, whatever the input. Tags and attributes come
 * from two short lists without any that load, link or run something, and all text is escaped. The
 * only exceptions are images, which are Base64 of an {@link ImageType}, and the page's own style.
 * Belongs to one thread.
 */
final class Html {
  private static final Set<String> TAGS = Set.of(
      "html",
      "head",
      "title",
      "body",
      "header",
      "main",
      "footer",
      "section",
      "div",
      "h1",
      "h2",
      "h3",
      "p",
      "span",
      "code",
      "time",
      "strong",
      "dl",
      "dt",
      "dd",
      "ul",
      "li",
      "figure",
      "figcaption",
      "details",
      "summary",
      "table",
      "caption",
      "thead",
      "tbody",
      "tr",
      "th",
      "td",
      "svg",
      "rect");
  private static final Set<String> ATTRIBUTES = Set.of(
      "id",
      "class",
      "lang",
      "dir",
      "title",
      "role",
      "scope",
      "colspan",
      "tabindex",
      "datetime",
      "aria-label",
      "aria-labelledby",
      "aria-hidden",
      "viewBox",
      "preserveAspectRatio",
      "width",
      "height");
  /**
   * Characters that change the order in which text is shown, and thus what the text seems to say.
   */
  private static final String BIDI_CONTROLS =
      "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069";

  private final Appendable out;
  private final Deque<String> open = new ArrayDeque<>();

  Html(Appendable out) {
    this.out = out;
  }

  /**
   * Begins a page up to the end of its head. The page's policy forbids everything except its style
   * and its images.
   */
  Html page(PageStyle style, String title) {
    write("<!DOCTYPE html>\n");
    start("html", "lang", "en").start("head");
    write("<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\""
        + "default-src 'none'; img-src data:; style-src '" + style.hash()
        + "'; base-uri 'none'; form-action 'none'\">\n"
        + "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        + "<meta name=\"color-scheme\" content=\"light dark\">\n"
        + "<meta name=\"referrer\" content=\"no-referrer\">\n");
    leaf("title", title);
    write("<style>" + style.text() + "</style>\n");
    return end();
  }

  /** Opens an element. Attributes are pairs of a name and a value. */
  Html start(String tag, String... attributes) {
    if (!TAGS.contains(tag)) {
      throw new IllegalArgumentException("<" + tag + "> is not among the tags of a report");
    }
    write("<" + tag);
    for (int i = 0; i < attributes.length; i += 2) {
      attribute(attributes[i], attributes[i + 1]);
    }
    write(">");
    open.push(tag);
    return this;
  }

  /** Closes the last opened element. */
  Html end() {
    write("</" + open.pop() + ">\n");
    return this;
  }

  /** Adds an element that contains only text. */
  Html leaf(String tag, String text, String... attributes) {
    return start(tag, attributes).text(text).end();
  }

  /** Adds text of any content. */
  Html text(String text) {
    write(escaped(text));
    return this;
  }

  /**
   * Adds an image that is part of the page.
   *
   * @param alternative text for readers who cannot see the image
   * @param size attributes {@code width} and {@code height} with their values, or nothing
   */
  Html image(ImageType type, byte[] bytes, String alternative, String... size) {
    write("<img");
    for (int i = 0; i < size.length; i += 2) {
      attribute(size[i], size[i + 1]);
    }
    attribute("title", alternative);
    write(" alt=\"" + escaped(alternative) + "\" src=\"data:" + type.mediaType() + ";base64,");
    write(Base64.getEncoder().encodeToString(bytes));
    write("\">");
    return this;
  }

  private void attribute(String name, String value) {
    if (!ATTRIBUTES.contains(name)) {
      throw new IllegalArgumentException("'" + name + "' is not among the attributes of a report");
    }
    write(" " + name + "=\"" + escaped(value) + "\"");
  }

  /**
   * Returns the text escaped, so that it is neither tag, attribute nor reference. Control
   * characters and characters that turn the direction of writing are made visible, as
   * {@code \\u202e}.
   */
  static String escaped(String text) {
    StringBuilder to = new StringBuilder(text.length() + 16);
    text.codePoints().forEach(c -> {
      switch (c) {
        case '&' -> to.append("&amp;");
        case '<' -> to.append("&lt;");
        case '>' -> to.append("&gt;");
        case '"' -> to.append("&quot;");
        case '\'' -> to.append("&#39;");
        default -> {
          boolean isHidden = Character.isISOControl(c) && c != '\n' && c != '\t';
          if (isHidden || BIDI_CONTROLS.indexOf(c) >= 0) {
            to.append(String.format(Locale.ROOT, "\\u%04x", c));
          } else {
            to.appendCodePoint(Character.getType(c) == Character.SURROGATE ? 0xfffd : c);
          }
        }
      }
    });
    return to.toString();
  }

  private void write(String markup) {
    try {
      out.append(markup);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot write the report: " + e.getMessage(), e);
    }
  }
}
