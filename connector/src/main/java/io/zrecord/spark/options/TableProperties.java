package io.zrecord.spark.options;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Decides which properties a table or a namespace may keep. Stateless. */
public final class TableProperties {
  /** Property of Spark: how strings are compared whose columns do not say it. */
  public static final String COLLATION = "collation";

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
  public static void requireKept(Collection<String> names) {
    for (String name : names) {
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
