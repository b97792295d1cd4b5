package io.zrecord.spark.options;

import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The options of a read or write that are settings of Hadoop, as for Spark's own sources: those
 * that begin with {@code fs.}, {@code zrecord.publish} and those of a cache. Values may be
 * credentials and are never shown. Stateless.
 */
public final class StorageSettings {
  private static final String PREFIX = "fs.";
  private static final Set<String> OWN =
      Set.of("zrecord.publish", "zrecord.cache.directory", "zrecord.cache.bytes");

  private StorageSettings() {}

  /** Tells whether an option is a setting of Hadoop. */
  public static boolean isSetting(String key) {
    return (key.startsWith(PREFIX) && key.length() > PREFIX.length()) || OWN.contains(key);
  }

  /** Returns the settings among the options of a statement, without the session's defaults. */
  public static Map<String, String> ofStatement(CaseInsensitiveStringMap options) {
    return among(SessionDefaults.removedFrom(options).asCaseSensitiveMap());
  }

  /** Returns the settings among the session's defaults. */
  public static Map<String, String> ofSession() {
    return among(SessionDefaults.all().asCaseSensitiveMap());
  }

  /** Returns the settings among options. */
  public static Map<String, String> among(Map<String, String> options) {
    Map<String, String> settings = new TreeMap<>();
    options.forEach((key, value) -> {
      if (isSetting(key)) {
        settings.put(key, value);
      }
    });
    return settings;
  }

  /**
   * Refuses settings among options that a table keeps, also in letters of the other case: the value
   * would be a credential as well.
   *
   * @throws IllegalArgumentException if there are settings; the message has names only
   */
  public static void refuseToKeep(Map<String, String> options) {
    options.keySet().stream()
        .filter(StorageSettings::looksLikeSetting)
        .findAny()
        .ifPresent(key -> {
          throw new IllegalArgumentException(
              "Option " + key + " is a setting of Hadoop, which may be a"
                  + " credential, and would be kept for everybody to see; leave it out, and start"
                  + " the session with spark.hadoop." + key);
        });
  }

  private static boolean looksLikeSetting(String key) {
    return isSetting(key) || isSetting(key.toLowerCase(Locale.ROOT));
  }

  /**
   * Refuses settings of a statement for a table that was loaded with other settings: a table is
   * loaded before the options of a SQL statement are known.
   *
   * @param loaded the settings with which the table was loaded
   * @throws IllegalArgumentException if the settings differ; the message has names only
   */
  public static void requireLoaded(Map<String, String> loaded, CaseInsensitiveStringMap options) {
    Map<String, String> asked = ofStatement(options);
    asked.forEach((key, value) -> {
      if (!value.equals(loaded.get(key))) {
        throw new IllegalArgumentException("Option " + key
            + " comes too late: the table has been loaded without the option; use load(path) or"
            + " save(path), or start the session with spark.hadoop." + key);
      }
    });
  }
}
