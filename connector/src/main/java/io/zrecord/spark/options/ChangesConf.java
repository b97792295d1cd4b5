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
  private static final List<String> OTHERS = List.of(
      ZRecordOptions.CHANGES_TO,
      ZRecordOptions.CHANGES_TO_TIMESTAMP,
      ZRecordOptions.DEDUPLICATION_MODE);

  /**
   * Parses the options of a read; empty if they do not ask for changes.
   *
   * @param options those of the statement; a source gets them with the session's defaults
   * @throws IllegalArgumentException if a value is none, or other options do not go with changes
   */
  public static Optional<ChangesConf> of(CaseInsensitiveStringMap options) {
    if (FIRST.stream().noneMatch(options::containsKey)) {
      OTHERS.stream().filter(options::containsKey).findFirst().ifPresent(key -> {
        throw new IllegalArgumentException("Option " + key + " has the value '" + options.get(key)
            + "', and goes with the first version whose changes are read; give "
            + String.join(" or ", FIRST) + " as well");
      });
      return Optional.empty();
    }
    KnownOptions.requireOfChanges(SessionDefaults.removedFrom(options));
    return Optional.of(new ChangesConf(
        moment(options, ZRecordOptions.CHANGES_FROM, ZRecordOptions.CHANGES_FROM_TIMESTAMP)
            .orElseThrow(),
        moment(options, ZRecordOptions.CHANGES_TO, ZRecordOptions.CHANGES_TO_TIMESTAMP),
        isNet(options)));
  }

  /** Returns the options that say which changes are read, for an identifier. */
  public static Map<String, String> among(CaseInsensitiveStringMap options) {
    Map<String, String> found = new LinkedHashMap<>();
    List.of(FIRST, OTHERS)
        .forEach(keys -> keys.forEach(key -> {
          if (options.containsKey(key)) {
            found.put(key, options.get(key));
          }
        }));
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
