package io.zrecord.warehouse;

import java.nio.charset.StandardCharsets;
import java.util.Set;

/** The names that tables and namespaces of a warehouse may have (FORMAT.md section 23). */
final class EntryName {
  /** Longest name, in bytes of UTF-8. */
  private static final int MOST_BYTES = 255;

  private static final String SPECIAL = "/\\:*?\"<>|[]{}";

  /** Names within datasets. A namespace must not be taken for a part of a dataset. */
  private static final Set<String> OF_DATASETS = Set.of(
      "manifest", "shard", "list", "tag", "chunk", "journal", "live", "deleted", "meta.json");

  private EntryName() {}

  /** Tells whether a directory of this name may be a table or a namespace. */
  static boolean isAllowed(String name) {
    return !name.isEmpty()
        && name.getBytes(StandardCharsets.UTF_8).length <= MOST_BYTES
        && name.charAt(0) != '_'
        && name.charAt(0) != '.'
        && !name.endsWith(".")
        && !name.endsWith(" ")
        && name.chars().noneMatch(c -> SPECIAL.indexOf(c) >= 0 || Character.isISOControl(c))
        && !OF_DATASETS.contains(name);
  }

  /**
   * Requires that a table or a namespace may have a name.
   *
   * @throws IllegalArgumentException if it may not
   */
  static String require(String name) {
    if (!isAllowed(name)) {
      throw new IllegalArgumentException("'" + name + "' is not allowed as the name of a table or a"
          + " namespace: a name has 1 to " + MOST_BYTES
          + " bytes, does not begin with '_' or '.' or end with '.' or a space, has none of "
          + SPECIAL + " and no control character, and is none of "
          + String.join(", ", OF_DATASETS.stream().sorted().toList())
          + "; choose another name");
    }
    return name;
  }
}
