package io.zrecord.internal.format;

import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/** Names of tags and of their files (FORMAT.md section 7). */
public final class TagNames {
  /** Directory of the tags. */
  public static final String DIRECTORY = "tag";

  private static final String SUFFIX = ".json";
  private static final Pattern ALLOWED = Pattern.compile("[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}");
  private static final Pattern TAKEN_FOR_A_VERSION = Pattern.compile("(?i)[0-9]+|latest");

  private static final String PENDING = "pending-";
  private static final Pattern IS_PENDING =
      Pattern.compile(PENDING + "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

  private TagNames() {}

  /**
   * Returns a new, unique name for the pending tag that holds a version while another tag is made.
   */
  public static String newPending() {
    return PENDING + UUID.randomUUID();
  }

  /**
   * Tells whether a tag is pending, which means that it holds a version while another tag is made.
   * The version of a leftover pending tag may be missing.
   */
  public static boolean isPending(String tag) {
    return IS_PENDING.matcher(tag).matches();
  }

  /**
   * Returns the name of the file of a tag, relative to the table.
   *
   * @throws IllegalArgumentException if the tag's name is not allowed
   */
  public static String fileOf(String tag) {
    if (!isAllowed(tag)) {
      throw new IllegalArgumentException("'" + tag
          + "' is not allowed as a tag; use 1 to 64 of the letters A-Z and a-z, digits, '.', '_' and '-', "
          + "not beginning with '.', and neither a number nor 'latest'");
    }
    return DIRECTORY + "/" + tag + SUFFIX;
  }

  /** Tells whether a text is allowed as the name of a tag. */
  public static boolean isAllowed(String tag) {
    return ALLOWED.matcher(tag).matches() && !TAKEN_FOR_A_VERSION.matcher(tag).matches();
  }

  /** Returns the name of the tag in a file of the directory; empty for any other file. */
  public static Optional<String> tag(String fileName) {
    if (!fileName.endsWith(SUFFIX)) {
      return Optional.empty();
    }
    String tag = fileName.substring(0, fileName.length() - SUFFIX.length());
    return isAllowed(tag) ? Optional.of(tag) : Optional.empty();
  }
}
