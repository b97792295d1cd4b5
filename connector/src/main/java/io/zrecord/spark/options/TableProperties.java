package io.zrecord.spark.options;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Decides which properties a table or a namespace may keep. Stateless. */
public final class TableProperties {
  /** Property of Spark: how strings are compared whose columns do not say it. */
  public static final String COLLATION = "collation";

  /** Where the rows of writes to the table meet, unless a write says otherwise. */
  public static final String DISTRIBUTION = "write.distribution";

  private static final String BINARY = "UTF8_BINARY";

  /** Begin the names of what other places have: options, and what tables of other formats keep. */
  private static final List<String> PREFIXES =
      List.of("write.", "option.", "spark.datasource." + ZRecordOptions.FORMAT + ".");

  /** Begins the names of properties that are obeyed. */
  private static final String OWN = "zrecord.";

  private TableProperties() {}

  /**
   * Refuses properties that would be taken for options, and would have no effect. Ignores case, as
   * options do.
   *
   * @throws IllegalArgumentException if one is a setting of Hadoop, which may be a credential, or
   *     an option; the message has no value
   */
  public static void requireKept(Map<String, String> properties) {
    properties.forEach(TableProperties::requireKept);
  }

  /**
   * Refuses one such property.
   *
   * @param value null if the property is taken away, which is refused of none
   */
  public static void requireKept(String name, @Nullable String value) {
    if (value == null) {
      return;
    }
    if (name.equals(DISTRIBUTION)) {
      distribution(value);
      return;
    }
    StorageSettings.refuseToKeep(Map.of(name, ""));
    String folded = name.toLowerCase(Locale.ROOT);
    PREFIXES.stream().filter(folded::startsWith).findFirst().ifPresent(prefix -> {
      throw refused(name, name.substring(prefix.length()));
    });
    if (KnownOptions.isOfWrites(name) || KnownOptions.isOfReads(name)) {
      throw refused(name, name);
    }
    if (folded.startsWith(OWN) && !name.startsWith(OWN)) {
      throw new IllegalArgumentException("Cannot keep the property '" + name
          + "' of a table: names that begin with " + OWN + " are those of zrecord; write "
          + OWN + " in small letters, or choose another name");
    }
  }

  private static IllegalArgumentException refused(String name, String option) {
    boolean isOfReads = KnownOptions.isOfReads(option) && !KnownOptions.isOfWrites(option);
    return new IllegalArgumentException("Cannot keep the property '" + name
        + "' of a table: it would have no effect on " + (isOfReads ? "reads" : "writes")
        + "; give the option with each of them, "
        + (isOfReads
            ? ""
            : "as OPTIONS ('" + option + "' …) of a statement that creates the table, ")
        + "or as spark.datasource." + ZRecordOptions.FORMAT + "." + option + " for a session");
  }

  /**
   * Refuses a property of a table whose properties are not in the dataset, if it would have no
   * effect there.
   *
   * @param table the table, for messages
   * @param place where the dataset is or will be
   * @param value null if the property is taken away, which is refused of none
   * @throws IllegalArgumentException if the property would be taken for an option, or is one that
   *     the dataset itself must say
   */
  public static void requireKeptByEntry(
      String table, String place, String name, @Nullable String value) {
    requireKept(name, value);
    if (value != null && name.startsWith(OWN)) {
      throw new IllegalArgumentException("Cannot keep the property '" + name + "' of " + table
          + ": it would have no effect, because the session's catalog keeps the properties of its"
          + " tables, and not the dataset; say it of the dataset once there is one: alter table "
          + ZRecordOptions.FORMAT + ".`" + place + "` set tblproperties ('" + name + "' = '" + value
          + "')");
    }
  }

  /**
   * Requires the collation that compares bytes, which strings have anyway.
   *
   * @param what has the collation
   * @throws IllegalArgumentException if it is another one
   */
  public static void requireBinary(String what, String collation) {
    if (!collation.equalsIgnoreCase(BINARY)) {
      throw new IllegalArgumentException("Cannot give " + what + " the default collation "
          + collation + ": strings are compared byte by byte; use " + BINARY
          + ", or leave DEFAULT COLLATION out");
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
