package io.zrecord.warehouse;

import java.util.Map;

/** Limits of the properties of a namespace, which are those of a table's. */
final class NamespaceProperties {
  private static final int MOST = 1000;
  private static final int MOST_OF_A_NAME = 1024;
  private static final int MOST_OF_A_VALUE = 1 << 16;
  private static final int MOST_TOGETHER = 1 << 20;

  private NamespaceProperties() {}

  /**
   * Requires that properties are within the limits.
   *
   * @throws IllegalArgumentException if they are not
   */
  static void require(Map<String, String> properties) {
    require("properties", properties.size(), MOST);
    long together = 0;
    for (Map.Entry<String, String> property : properties.entrySet()) {
      String name = property.getKey();
      if (name.isEmpty()) {
        throw new IllegalArgumentException("A property of a namespace has no name; give one");
      }
      require("characters in the name of a property", name.length(), MOST_OF_A_NAME);
      require(
          "characters in the property '" + name + "'",
          property.getValue().length(),
          MOST_OF_A_VALUE);
      together += name.length() + property.getValue().length();
    }
    require("characters in all properties", together, MOST_TOGETHER);
  }

  private static void require(String what, long count, int most) {
    if (count > most) {
      throw new IllegalArgumentException(
          "A namespace cannot have " + count + " " + what + "; at most " + most + " are kept");
    }
  }
}
