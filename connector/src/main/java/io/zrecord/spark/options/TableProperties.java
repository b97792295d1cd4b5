package io.zrecord.spark.options;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Decides which properties a table may keep, and reads those that Spark obeys. Stateless. */
public final class TableProperties {
  /** Where the rows of writes to the table meet, unless a write says otherwise. */
  public static final String DISTRIBUTION = "write.distribution";

  private static final String OF_WRITES = "write.";

  private TableProperties() {}

  /**
   * Refuses properties that would be taken for options of writes, and would have no effect.
   *
   * @throws IllegalArgumentException if one is a setting of Hadoop, which may be a credential, or
   *     an option; the message has no value. Also if a property that is obeyed has no such value
   */
  public static void requireKept(Map<String, String> properties) {
    properties.forEach(TableProperties::requireKept);
  }

  /**
   * Refuses one such property.
   *
   * @param value null if the property is taken away
   */
  public static void requireKept(String name, @Nullable String value) {
    if (name.equals(DISTRIBUTION)) {
      if (value != null) {
        distribution(value);
      }
      return;
    }
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

  /**
   * Returns where the rows of writes to a table meet.
   *
   * @param properties those of the table
   */
  public static Optional<WriteDistribution> distribution(Map<String, String> properties) {
    return Optional.ofNullable(properties.get(DISTRIBUTION)).map(TableProperties::distribution);
  }

  /**
   * Returns options of a write with those that properties of its table stand for, unless the
   * options say otherwise. For tables whose properties are not in the dataset.
   */
  public static Map<String, String> addedTo(
      Map<String, String> options, Map<String, String> properties) {
    String wanted = properties.get(DISTRIBUTION);
    if (wanted == null
        || options.keySet().stream().anyMatch(ZRecordOptions.DISTRIBUTION::equalsIgnoreCase)) {
      return options;
    }
    Map<String, String> all = new HashMap<>(options);
    all.put(ZRecordOptions.DISTRIBUTION, wanted);
    return all;
  }

  private static WriteDistribution distribution(String value) {
    for (WriteDistribution known : WriteDistribution.values()) {
      if (known.name().equalsIgnoreCase(value.strip())) {
        return known;
      }
    }
    throw new IllegalArgumentException("The property '" + DISTRIBUTION + "' of a table has the"
        + " value '" + value + "'; use one of "
        + java.util.Arrays.toString(WriteDistribution.values()).toLowerCase(Locale.ROOT));
  }
}
