package io.zrecord.internal.format;

import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Names {@code .NAME.UUID.tmp} in the directory of a store: of files that shall replace others, and
 * of directories with files that were deleted (FORMAT.md section 21.2). Stateless.
 */
public final class TemporaryNames {
  /** Stands in the name of a directory with files that were deleted. */
  public static final String DELETED = "deleted";

  private static final String END = "\\.\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}\\.tmp";
  private static final Pattern ANY = Pattern.compile("\\..+" + END);
  private static final Pattern OF_STORE =
      Pattern.compile("\\.(deleted|journal|live|meta\\.json)" + END);

  private TemporaryNames() {}

  /** Returns the name for a file or directory. */
  public static String of(String name, UUID id) {
    return "." + name + "." + id + ".tmp";
  }

  /** Tells whether a name is of that kind. */
  public static boolean isTemporary(String name) {
    return ANY.matcher(name).matches();
  }

  /** Tells whether a store gives the name, so that a table that a store became may have it. */
  public static boolean isLeftOfStore(String name) {
    return OF_STORE.matcher(name).matches();
  }
}
