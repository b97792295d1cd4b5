package io.zrecord.internal.format;

import java.util.UUID;
import java.util.regex.Pattern;

/** Names of tags, and of the copies of tagged manifests (FORMAT.md section 7). */
public final class TagNames {
  /** Directory of the copies. */
  public static final String DIRECTORY = "tag";

  private static final Pattern ALLOWED = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}");
  private static final Pattern TAKEN_FOR_A_VERSION = Pattern.compile("(?i)[0-9]+|latest");
  private static final Pattern FILE =
      Pattern.compile(DIRECTORY + "/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\\.json");

  private TagNames() {}

  /** Returns a new, unique name for a copy of a manifest, relative to the table. */
  public static String newFile() {
    return DIRECTORY + "/" + UUID.randomUUID() + ".json";
  }

  /** Tells whether a name, relative to the table, is allowed for a copy of a manifest. */
  public static boolean isFile(String name) {
    return FILE.matcher(name).matches();
  }

  /**
   * Requires that a text is allowed as the name of a tag.
   *
   * @throws IllegalArgumentException if it is not
   */
  public static void require(String tag) {
    if (!isAllowed(tag)) {
      throw new IllegalArgumentException("'" + tag
          + "' is not allowed as a tag; use 1 to 64 of the letters A-Z and a-z, digits, '.', '_' and '-', "
          + "not beginning with '.', and neither a number nor 'latest'");
    }
  }

  /** Tells whether a text is allowed as the name of a tag. */
  public static boolean isAllowed(String tag) {
    return ALLOWED.matcher(tag).matches() && !TAKEN_FOR_A_VERSION.matcher(tag).matches();
  }
}
