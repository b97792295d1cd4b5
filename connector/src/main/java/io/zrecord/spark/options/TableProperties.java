package io.zrecord.spark.options;

import java.util.Collection;
import java.util.Map;

/** Decides which properties a table may keep. Stateless. */
public final class TableProperties {
  private static final String OF_WRITES = "write.";

  private TableProperties() {}

  /**
   * Refuses properties that would be taken for options of writes, and would have no effect.
   *
   * @throws IllegalArgumentException if one is a setting of Hadoop, which may be a credential, or
   *     an option; the message has no value
   */
  public static void requireKept(Collection<String> names) {
    for (String name : names) {
      StorageSettings.refuseToKeep(Map.of(name, ""));
      boolean isOfWrites = name.startsWith(OF_WRITES);
      if (isOfWrites || KnownOptions.isOfWrites(name)) {
        String option = isOfWrites ? name.substring(OF_WRITES.length()) : name;
        throw new IllegalArgumentException("Cannot keep the property '" + name
            + "' of a table: it would have no effect on writes; give the option with each of"
            + " them, as OPTIONS ('" + option
            + "' …) of a statement that creates the table, or as"
            + " spark.datasource." + ZRecordOptions.FORMAT + "." + option + " for a session");
      }
    }
  }
}
