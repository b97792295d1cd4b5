package io.zrecord.spark.options;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The versions whose changes a read tells, according to its options. Immutable.
 *
 * @param from the first version, or the time from which on commits are told
 * @param to the last version, or the time up to which commits are told; the newest version if empty
 * @param isNet whether each record is told once, however many versions changed the record
 */
public record ChangesConf(TimeTravel from, Optional<TimeTravel> to, boolean isNet) {
  private static final List<String> FIRST =
      List.of(ZRecordOptions.CHANGES_FROM, ZRecordOptions.CHANGES_FROM_TIMESTAMP);
  private static final List<String> LAST =
      List.of(ZRecordOptions.CHANGES_TO, ZRecordOptions.CHANGES_TO_TIMESTAMP);
  private static final List<String> OF_PATHS = List.of(ZRecordOptions.PATH, ZRecordOptions.PATHS);
  private static final List<String> MODE = List.of(ZRecordOptions.DEDUPLICATION_MODE);

  /**
   * Parses the options of a read of a path; empty if they do not ask for changes. Defaults of the
   * session ask for changes only where the read itself selects nothing else.
   *
   * @param options those of the statement, with the session's defaults, as a source gets them
   * @throws IllegalArgumentException if a value is none, or other options do not go with changes
   */
  public static Optional<ChangesConf> of(CaseInsensitiveStringMap options) {
    Map<String, String> effective = effective(options);
    if (effective.isEmpty()) {
      return Optional.empty();
    }
    KnownOptions.requireOfChanges(SessionDefaults.removedFrom(options));
    return Optional.of(parse(effective));
  }

  /**
   * Parses the options of a relation; empty if they do not ask for changes. Spark adds the
   * session's defaults to those of a read of a path, and not to those with which a statement names
   * a table.
   *
   * @throws IllegalArgumentException if a value is none, or other options do not go with changes
   */
  public static Optional<ChangesConf> ofRelation(CaseInsensitiveStringMap options) {
    if (OF_PATHS.stream().anyMatch(options::containsKey)) {
      return of(options);
    }
    Map<String, String> asked = among(options);
    if (asked.isEmpty()) {
      return Optional.empty();
    }
    KnownOptions.requireOfChanges(options);
    return Optional.of(parse(completed(asked)));
  }

  /**
   * Returns the options of a read of a path that say which changes are read; empty if none does.
   *
   * @param options those of the statement, with the session's defaults, as a source gets them
   */
  public static Map<String, String> effective(CaseInsensitiveStringMap options) {
    CaseInsensitiveStringMap own = SessionDefaults.removedFrom(options);
    boolean selectsOther =
        own.containsKey(ZRecordOptions.PATHS) || KnownOptions.notOfChanges(own).isPresent();
    Map<String, String> asked = among(own);
    if (asked.isEmpty() && (selectsOther || FIRST.stream().noneMatch(options::containsKey))) {
      return Map.of();
    }
    return completed(asked);
  }

  /** Tells whether only defaults of the session ask for changes. */
  public static boolean isByDefault(CaseInsensitiveStringMap options) {
    return among(SessionDefaults.removedFrom(options)).isEmpty();
  }

  /** Adds the session's defaults to options of a statement. */
  private static Map<String, String> completed(Map<String, String> asked) {
    Map<String, String> all = new LinkedHashMap<>(asked);
    Map<String, String> defaults = among(SessionDefaults.all());
    for (List<String> alike : List.of(FIRST, LAST, MODE)) {
      if (alike.stream().noneMatch(asked::containsKey)) {
        alike.stream()
            .filter(defaults::containsKey)
            .forEach(key -> all.put(key, defaults.get(key)));
      }
    }
    return all;
  }

  /**
   * Parses options that say which changes are read.
   *
   * @throws IllegalArgumentException if a value is none, or the first version is missing
   */
  public static ChangesConf parse(Map<String, String> all) {
    CaseInsensitiveStringMap options = new CaseInsensitiveStringMap(all);
    return new ChangesConf(
        moment(options, ZRecordOptions.CHANGES_FROM, ZRecordOptions.CHANGES_FROM_TIMESTAMP)
            .orElseThrow(() -> withoutFirst(all)),
        moment(options, ZRecordOptions.CHANGES_TO, ZRecordOptions.CHANGES_TO_TIMESTAMP),
        isNet(options));
  }

  private static IllegalArgumentException withoutFirst(Map<String, String> options) {
    Map.Entry<String, String> other = options.entrySet().iterator().next();
    return new IllegalArgumentException("Option " + other.getKey() + " has the value '"
        + other.getValue() + "', and goes with the first version whose changes are read; give "
        + String.join(" or ", FIRST) + " as well");
  }

  /** Returns the options that say which changes are read. */
  public static Map<String, String> among(CaseInsensitiveStringMap options) {
    Map<String, String> found = new LinkedHashMap<>();
    for (List<String> keys : List.of(FIRST, LAST, MODE)) {
      keys.stream().filter(options::containsKey).forEach(key -> found.put(key, options.get(key)));
    }
    return found;
  }

  private static Optional<TimeTravel> moment(
      CaseInsensitiveStringMap options, String version, String timestamp) {
    String named = options.get(version);
    String time = options.get(timestamp);
    if (named != null && time != null) {
      throw new IllegalArgumentException("The options " + version + "=" + named + " and "
          + timestamp + "=" + time + " exclude each other; give one of them");
    }
    return Optional.ofNullable(named)
        .map(text -> OptionValue.parse(version, text, ChangesConf::version))
        .or(() -> Optional.ofNullable(time)
            .map(text -> TimeTravel.at(VersionSelector.instant(timestamp, text))));
  }

  private static TimeTravel version(String text) {
    TimeTravel parsed = TimeTravel.of(text.strip());
    if (text.isBlank() || parsed.version().orElse(0L) < 0) {
      throw new IllegalArgumentException(
          "use the number of a version, such as 5, a tag, or " + TimeTravel.NEWEST);
    }
    return parsed;
  }

  private static boolean isNet(CaseInsensitiveStringMap options) {
    String text = options.getOrDefault(ZRecordOptions.DEDUPLICATION_MODE, "none");
    return OptionValue.parse(ZRecordOptions.DEDUPLICATION_MODE, text, mode -> {
      if (mode.strip().equalsIgnoreCase("none")) {
        return false;
      }
      if (mode.strip().equalsIgnoreCase("netChanges")) {
        return true;
      }
      throw new IllegalArgumentException("use none or netChanges; an update is always told by the"
          + " record before and the record after, and nothing that was only written again");
    });
  }
}
