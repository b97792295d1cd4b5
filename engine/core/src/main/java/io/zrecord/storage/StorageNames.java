package io.zrecord.storage;

import java.util.ArrayList;
import java.util.List;

/** Checks the names of files in a {@link Storage}. Stateless. */
public final class StorageNames {
  private StorageNames() {}

  /**
   * Returns the parts of a name, which are separated by {@code /}.
   *
   * @param root of the storage, for the message
   * @throws IllegalArgumentException if a part is empty, {@code .} or {@code ..}, or has a
   *     character that is not portable
   */
  public static List<String> parts(String name, String root) {
    List<String> parts = new ArrayList<>();
    int from = 0;
    while (from <= name.length()) {
      int slash = name.indexOf('/', from);
      int to = slash < 0 ? name.length() : slash;
      String part = name.substring(from, to);
      if (part.isEmpty()
          || part.equals(".")
          || part.equals("..")
          || part.indexOf('\\') >= 0
          || part.indexOf(0) >= 0) {
        throw new IllegalArgumentException("Name '" + name + "' is not allowed below " + root
            + ": its parts must not be empty, '.' or '..', nor contain a backslash or U+0000");
      }
      parts.add(part);
      from = to + 1;
    }
    return parts;
  }
}
