package io.zrecord.internal.format;

import java.util.UUID;
import java.util.regex.Pattern;

/**
 * Names {@code writer-UUID} in the directory of a store, of files that say which writer it has
 * (FORMAT.md section 21.2). Stateless.
 */
public final class WriterNames {
  private static final String PREFIX = "writer-";
  private static final Pattern NAME =
      Pattern.compile(PREFIX + "\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}");

  private WriterNames() {}

  /** Returns a name that no other writer ever has. */
  public static String random() {
    return PREFIX + UUID.randomUUID();
  }

  /** Tells whether a name is of that kind. */
  public static boolean isName(String name) {
    return NAME.matcher(name).matches();
  }
}
