package io.zrecord.npy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.UnsupportedFormatException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Parses the dictionary of an {@code .npy} header: exactly the three members, each once, in the
 * part of Python's syntax that NumPy writes. Not recursive, so deep nesting does no harm.
 */
final class NpyHeaderParser {
  private static final int MAX_RANK = 32;

  private final String path;
  private final String text;
  private int at;

  NpyHeaderParser(String path, String text) {
    this.path = path;
    this.text = text;
  }

  NpyHeader parse(long dataOffset) {
    @Nullable String description = null;
    @Nullable Boolean isFortranOrder = null;
    @Nullable List<Long> shape = null;
    expect('{');
    while (!accept('}')) {
      String key = string();
      expect(':');
      boolean isFirst;
      switch (key) {
        case "descr" -> {
          isFirst = description == null;
          description = description();
        }
        case "fortran_order" -> {
          isFirst = isFortranOrder == null;
          isFortranOrder = bool();
        }
        case "shape" -> {
          isFirst = shape == null;
          shape = shape();
        }
        default -> throw corrupt("member '" + shortened(key) + "' is unknown");
      }
      if (!isFirst) {
        throw corrupt("member '" + key + "' appears twice");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skipSpace();
    if (at != text.length()) {
      throw corrupt("something follows the dictionary");
    }
    if (description == null || isFortranOrder == null || shape == null) {
      throw corrupt("one of descr, fortran_order and shape is missing");
    }
    return new NpyHeader(description, isFortranOrder, shape, dataOffset);
  }

  private String description() {
    skipSpace();
    if (at < text.length() && text.charAt(at) == '[') {
      throw new UnsupportedFormatException(
          path,
          "Cannot import " + path
              + ": its dtype is structured; save each of its fields as an array of its own, such as numpy.save('f.npy', a['f'])");
    }
    return string();
  }

  private String string() {
    skipSpace();
    char quote = at < text.length() ? text.charAt(at) : 0;
    if (quote != '\'' && quote != '"') {
      throw corrupt("a string is expected at character " + at);
    }
    int end = text.indexOf(quote, at + 1);
    if (end < 0 || text.substring(at, end).indexOf('\\') >= 0) {
      throw corrupt("the string at character " + at + " has no end, or an escape");
    }
    String value = text.substring(at + 1, end);
    at = end + 1;
    return value;
  }

  private boolean bool() {
    skipSpace();
    for (boolean value : new boolean[] {false, true}) {
      String word = value ? "True" : "False";
      if (text.startsWith(word, at)) {
        at += word.length();
        return value;
      }
    }
    throw corrupt("True or False is expected at character " + at);
  }

  private List<Long> shape() {
    List<Long> shape = new ArrayList<>();
    expect('(');
    while (!accept(')')) {
      shape.add(number());
      if (shape.size() > MAX_RANK) {
        throw corrupt("it has more than " + MAX_RANK + " dimensions");
      }
      if (!accept(',')) {
        if (shape.size() == 1) {
          throw corrupt("a shape in parentheses without a comma is no tuple");
        }
        expect(')');
        break;
      }
    }
    return shape;
  }

  private long number() {
    skipSpace();
    int from = at;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      at++;
    }
    if (from == at || at - from > 18) {
      throw corrupt("a number of 1 to 18 digits is expected at character " + from);
    }
    long value = Long.parseLong(text, from, at, 10);
    // Python 2 wrote long integers with this suffix.
    if (at < text.length() && text.charAt(at) == 'L') {
      at++;
    }
    return value;
  }

  private void expect(char wanted) {
    if (!accept(wanted)) {
      throw corrupt("'" + wanted + "' is expected at character " + at);
    }
  }

  private boolean accept(char wanted) {
    skipSpace();
    if (at < text.length() && text.charAt(at) == wanted) {
      at++;
      return true;
    }
    return false;
  }

  private void skipSpace() {
    while (at < text.length() && (text.charAt(at) == ' ' || text.charAt(at) == '\n')) {
      at++;
    }
  }

  private static String shortened(String text) {
    return text.length() > 40 ? text.substring(0, 40) + "…" : text;
  }

  private CorruptDataException corrupt(String reason) {
    return new CorruptDataException(
        path, "Cannot import " + path + ": its header is invalid: " + reason);
  }
}
