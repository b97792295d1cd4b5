package io.zrecord.spark.options;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.jspecify.annotations.Nullable;

/** Decides which properties a table or a namespace may keep. Stateless. */
public final class TableProperties {
  /** Property of Spark: how strings are compared whose columns do not say it. */
  public static final String COLLATION = "collation";

  /** Begins the names of options that all writes of the table have, unless a write has others. */
  public static final String WRITE = "write.";

  private static final String BINARY = "UTF8_BINARY";

  /** Begin the names of what other places have: options, and what tables of other formats keep. */
  private static final List<String> PREFIXES =
      List.of("option.", "spark.datasource." + ZRecordOptions.FORMAT + ".");

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
    WriteConf.requireValid(writeOptions(properties));
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
    StorageSettings.refuseToKeep(Map.of(name, ""));
    String folded = name.toLowerCase(Locale.ROOT);
    if (folded.startsWith(WRITE)) {
      Map<String, String> option = writeOptions(Map.of(requireWriteOption(name), value));
      try {
        WriteConf.requireValid(option);
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "Cannot keep the property '" + name + "' of a table: " + e.getMessage(), e);
      }
      return;
    }
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

  /**
   * Requires the name of a property that says an option of writes.
   *
   * @return the name
   * @throws IllegalArgumentException if there is no such option, or a table does not keep it
   */
  private static String requireWriteOption(String name) {
    if (!name.startsWith(WRITE) || !KnownOptions.isOfTables(name.substring(WRITE.length()))) {
      throw new IllegalArgumentException("Cannot keep the property '" + name
          + "' of a table: names that begin with " + WRITE + " are those of options for all writes"
          + " of the table: " + KnownOptions.namesOfTables() + ", with " + WRITE
          + " in small letters before them");
    }
    return name;
  }

  /**
   * Returns the options that properties of a table say for all its writes.
   *
   * @param properties all properties of the table
   * @param nearer properties that go before those
   * @throws IllegalArgumentException if there is no such option, or two properties say the same one
   */
  static CaseInsensitiveStringMap writeOptions(
      Map<String, String> properties, Map<String, String> nearer) {
    Map<String, String> options = writeOptions(properties);
    options.putAll(writeOptions(nearer));
    return new CaseInsensitiveStringMap(options);
  }

  /**
   * Returns the options that properties of a table say for all its writes.
   *
   * @param properties all properties of the table
   * @throws IllegalArgumentException if there is no such option, or two properties say the same one
   */
  private static Map<String, String> writeOptions(Map<String, String> properties) {
    Map<String, String> options = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    properties.forEach((name, value) -> {
      if (name.startsWith(WRITE)
          && options.put(requireWriteOption(name).substring(WRITE.length()), value) != null) {
        throw new IllegalArgumentException("The table has the property '" + name
            + "' twice, in small and in large letters; unset one of them");
      }
    });
    return options;
  }

  private static IllegalArgumentException refused(String name, String option) {
    boolean isOfReads = KnownOptions.isOfReads(option) && !KnownOptions.isOfWrites(option);
    return new IllegalArgumentException("Cannot keep the property '" + name
        + "' of a table: it would have no effect on " + (isOfReads ? "reads" : "writes")
        + "; give the option with each of them, "
        + (isOfReads
            ? ""
            : KnownOptions.isOfTables(option)
                ? "as the property '" + WRITE + option + "' of the table, "
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
}
