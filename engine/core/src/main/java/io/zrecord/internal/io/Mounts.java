package io.zrecord.internal.io;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The file systems that are mounted, by a text like that of {@code /proc/self/mountinfo} (proc(5)).
 * A name is a sequence of bytes on Linux, so names and texts have one char for each byte here (ISO
 * 8859-1). Stateless.
 */
final class Mounts {
  private static final Pattern ESCAPE = Pattern.compile("\\\\([0-3][0-7]{2})");
  private static final int ID = 0;
  private static final int PARENT = 1;
  private static final int DIRECTORY = 4;

  /** The least number of fields before the separator, behind which are type and source. */
  private static final int MIN_FIELDS = 6;

  private static final String SEPARATOR = "-";

  private Mounts() {}

  /**
   * A file system at a place.
   *
   * @param parent the id of the mount that the directory is on
   */
  private record Mount(String id, String parent, String directory, String type) {}

  /**
   * Returns the type of the file system with a path. The mounts are followed from the root of all
   * names, each on the one before, as the system follows them. So a mount is not found that a later
   * one hides, on the same directory or on one above. Returns an empty text if nothing above the
   * path is mounted.
   *
   * @param path absolute, without links
   */
  static String typeAt(String path, String mounts) {
    List<Mount> left = parse(mounts);
    Set<String> ids = left.stream().map(Mount::id).collect(Collectors.toSet());
    Mount found = null;
    for (int end = 0; end >= 0; end = end == path.length() ? -1 : nextEnd(path, end)) {
      String directory = end == 0 ? "/" : path.substring(0, end);
      for (Mount next = last(left, ids, found, directory);
          next != null;
          next = last(left, ids, found, directory)) {
        found = next;
        // Each once, whatever the text says.
        left.remove(next);
      }
    }
    return found == null ? "" : found.type;
  }

  private static int nextEnd(String path, int end) {
    int slash = path.indexOf('/', end + 1);
    return slash < 0 ? path.length() : slash;
  }

  /** Returns the last mount on a directory of a mount, or if there is none yet, of none listed. */
  private static @Nullable Mount last(
      List<Mount> mounts, Set<String> ids, @Nullable Mount below, String directory) {
    Mount found = null;
    for (Mount mount : mounts) {
      boolean isOn = below == null
          ? !ids.contains(mount.parent) || mount.parent.equals(mount.id)
          : mount.parent.equals(below.id);
      if (isOn && mount.directory.equals(directory)) {
        found = mount;
      }
    }
    return found;
  }

  private static List<Mount> parse(String mounts) {
    List<Mount> parsed = new ArrayList<>();
    for (String line : mounts.split("\n", -1)) {
      List<String> fields = Arrays.asList(line.split(" ", -1));
      int separator = fields.size() < MIN_FIELDS
          ? -1
          : fields.subList(MIN_FIELDS, fields.size()).indexOf(SEPARATOR);
      if (separator >= 0 && MIN_FIELDS + separator + 2 < fields.size()) {
        parsed.add(new Mount(
            fields.get(ID),
            fields.get(PARENT),
            unescaped(fields.get(DIRECTORY)),
            unescaped(fields.get(MIN_FIELDS + separator + 1))));
      }
    }
    return parsed;
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
