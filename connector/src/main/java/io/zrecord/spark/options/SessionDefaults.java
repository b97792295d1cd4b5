package io.zrecord.spark.options;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import scala.Option;
import scala.runtime.BoxedUnit;

/**
 * Reads the options that a session sets for all its reads and writes, as
 * {@code spark.datasource.zrecord.<option>}. Spark itself adds these defaults in {@code load()} and
 * {@code save()} only. Stateless; on the driver.
 */
final class SessionDefaults {
  private static final String PREFIX = "spark.datasource." + ZRecordOptions.FORMAT + ".";

  /**
   * Options that select the table to read, or what is read of the table. The table is known before
   * the options of a scan.
   */
  private static final Set<String> OF_TABLES = lowerCase(Set.of(
      ZRecordOptions.PATH,
      ZRecordOptions.PATHS,
      ZRecordOptions.GLOB_PATHS,
      ZRecordOptions.VERSION_AS_OF,
      ZRecordOptions.TAG,
      ZRecordOptions.TIMESTAMP_AS_OF,
      ZRecordOptions.CHANGES_FROM,
      ZRecordOptions.CHANGES_FROM_TIMESTAMP,
      ZRecordOptions.CHANGES_TO,
      ZRecordOptions.CHANGES_TO_TIMESTAMP,
      ZRecordOptions.DEDUPLICATION_MODE));

  /** Options that select which records a scan reads, and in which order. */
  private static final Set<String> OF_RECORDS = lowerCase(
      Stream.concat(ZRecordOptions.OF_SAMPLERS.stream(), Stream.of(ZRecordOptions.INDICES))
          .collect(Collectors.toSet()));

  private SessionDefaults() {}

  /** Returns all defaults of the session of this thread; none if there is no session. */
  static CaseInsensitiveStringMap all() {
    Map<String, String> defaults = new HashMap<>();
    Option<SparkSession> active = SparkSession.getActiveSession();
    Option<SparkSession> session = active.isDefined() ? active : SparkSession.getDefaultSession();
    if (session.isDefined()) {
      session.get().conf().getAll().foreach(setting -> {
        if (setting._1().startsWith(PREFIX)) {
          defaults.put(setting._1().substring(PREFIX.length()), setting._2());
        }
        return BoxedUnit.UNIT;
      });
    }
    return new CaseInsensitiveStringMap(defaults);
  }

  /**
   * Adds the defaults for options that a statement leaves open, except options that select a table,
   * a version or changes.
   */
  static CaseInsensitiveStringMap addedTo(CaseInsensitiveStringMap options) {
    Map<String, String> merged = new HashMap<>();
    all().forEach((key, value) -> {
      if (!OF_TABLES.contains(key) && !options.containsKey(key)) {
        merged.put(key, value);
      }
    });
    merged.putAll(options.asCaseSensitiveMap());
    return new CaseInsensitiveStringMap(merged);
  }

  /** Returns the defaults that select which records a scan reads, and in which order. */
  static Map<String, String> ofRecords() {
    Map<String, String> defaults = new TreeMap<>();
    all().forEach((key, value) -> {
      if (OF_RECORDS.contains(key)) {
        defaults.put(key, value);
      }
    });
    return defaults;
  }

  /** Adds defaults as {@link #addedTo}, but those of records as they were before. */
  static CaseInsensitiveStringMap addedTo(
      CaseInsensitiveStringMap options, Map<String, String> ofRecords) {
    Map<String, String> merged = new HashMap<>(addedTo(options).asCaseSensitiveMap());
    merged
        .keySet()
        .removeIf(
            key -> OF_RECORDS.contains(key.toLowerCase(Locale.ROOT)) && !options.containsKey(key));
    ofRecords.forEach((key, value) -> {
      if (!options.containsKey(key)) {
        merged.put(key, value);
      }
    });
    return new CaseInsensitiveStringMap(merged);
  }

  /** Returns the options that are more than defaults of the session. */
  static CaseInsensitiveStringMap removedFrom(CaseInsensitiveStringMap options) {
    CaseInsensitiveStringMap defaults = all();
    Map<String, String> own = new HashMap<>(options.asCaseSensitiveMap());
    own.entrySet().removeIf(option -> option.getValue().equals(defaults.get(option.getKey())));
    return new CaseInsensitiveStringMap(own);
  }

  private static Set<String> lowerCase(Set<String> names) {
    return names.stream()
        .map(name -> name.toLowerCase(Locale.ROOT))
        .collect(Collectors.toUnmodifiableSet());
  }
}
