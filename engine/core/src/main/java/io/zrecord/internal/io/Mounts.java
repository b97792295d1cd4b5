package io.zrecord.internal.io;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The file systems that are mounted, by a text like that of {@code /proc/self/mountinfo} (proc(5)).
 * A name is a sequence of bytes on Linux, so names and texts have one char for each byte here (ISO
 * 8859-1). Stateless.
 */
final class Mounts {
  private static final Pattern ESCAPE = Pattern.compile("\\\\([0-3][0-7]{2})");
  private static final int DIRECTORY = 4;

  /** The least number of fields before the separator, behind which are type and source. */
  private static final int MIN_FIELDS = 6;

  private static final String SEPARATOR = "-";

  private Mounts() {}

  /**
   * Returns the type of the file system with a path: that of the longest mount point above the
   * path, and of several mounts on one directory the last, which hides the others. Returns an empty
   * text if nothing above the path is mounted.
   *
   * @param path absolute, without links
   */
  static String typeAt(String path, String mounts) {
    String found = "";
    int longest = -1;
    for (String line : mounts.split("\n", -1)) {
      List<String> fields = Arrays.asList(line.split(" ", -1));
      int separator = fields.size() < MIN_FIELDS
          ? -1
          : fields.subList(MIN_FIELDS, fields.size()).indexOf(SEPARATOR);
      if (separator < 0 || MIN_FIELDS + separator + 2 >= fields.size()) {
        continue;
      }
      String directory = unescaped(fields.get(DIRECTORY));
      if (directory.length() >= longest && isWithin(directory, path)) {
        longest = directory.length();
        found = unescaped(fields.get(MIN_FIELDS + separator + 1));
      }
    }
    return found;
  }

  private static boolean isWithin(String directory, String path) {
    return path.equals(directory)
        || path.startsWith(directory.endsWith("/") ? directory : directory + "/");
  }

  private static String unescaped(String field) {
    return ESCAPE
        .matcher(field)
        .replaceAll(code -> java.util.regex.Matcher.quoteReplacement(
            String.valueOf((char) Integer.parseInt(code.group(1), 8))));
  }

  /** Returns the bytes of an absolute path. A URI has them, whatever the encoding of names is. */
  static String nameOf(Path path) {
    String uri = path.toUri().getRawPath();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int i = 0; i < uri.length(); i++) {
      if (uri.charAt(i) == '%') {
        bytes.write(Integer.parseInt(uri.substring(i + 1, i + 3), 16));
        i += 2;
      } else {
        bytes.write(uri.charAt(i));
      }
    }
    return bytes.toString(StandardCharsets.ISO_8859_1);
  }
}
