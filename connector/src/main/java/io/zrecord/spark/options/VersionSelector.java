package io.zrecord.spark.options;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The version to read according to options: a version, a time, or nothing. Immutable.
 *
 * @param version number of a version, or a tag
 * @param timestamp a time as Spark writes times
 */
public record VersionSelector(Optional<String> version, Optional<String> timestamp) {

  /**
   * Returns the selection of a read's options. Defaults of the session among the options apply only
   * if the read itself selects nothing.
   *
   * @throws IllegalArgumentException if the options exclude each other
   */
  public static VersionSelector effective(CaseInsensitiveStringMap options) {
    VersionSelector own = ofStatement(options);
    return own.isEmpty() ? parse(options) : own;
  }

  /**
   * Returns the selection of a read's options without the defaults of the session.
   *
   * @throws IllegalArgumentException if the options exclude each other
   */
  public static VersionSelector ofStatement(CaseInsensitiveStringMap options) {
    return parse(SessionDefaults.removedFrom(options));
  }

  /**
   * Returns the selection of the session's defaults.
   *
   * @throws IllegalArgumentException if the defaults exclude each other
   */
  public static VersionSelector ofSession() {
    return parse(SessionDefaults.all());
  }

  /**
   * Requires that the session reads the newest version of each table. Otherwise Spark has compared
   * a statement with the columns of an older one.
   *
   * @param what the statement would do
   * @throws IllegalArgumentException if a default of the session selects a version
   */
  public static void requireNewest(String what) {
    CaseInsensitiveStringMap defaults = SessionDefaults.all();
    for (String option :
        List.of(ZRecordOptions.VERSION_AS_OF, ZRecordOptions.TAG, ZRecordOptions.TIMESTAMP_AS_OF)) {
      if (defaults.containsKey(option)) {
        String setting = "spark.datasource." + ZRecordOptions.FORMAT + "." + option;
        throw new IllegalArgumentException("Cannot " + what + " while " + setting
            + " selects the version that the session reads: the statement was compared with that"
            + " version; unset " + setting + " first");
      }
    }
  }

  private static VersionSelector parse(CaseInsensitiveStringMap options) {
    Optional<String> version = Optional.ofNullable(options.get(ZRecordOptions.VERSION_AS_OF));
    Optional<String> tag =
        Optional.ofNullable(options.get(ZRecordOptions.TAG)).map(TimeTravel::requireTag);
    Optional<String> timestamp = Optional.ofNullable(options.get(ZRecordOptions.TIMESTAMP_AS_OF));
    if (version.stream().count() + tag.stream().count() + timestamp.stream().count() > 1) {
      throw new IllegalArgumentException("The options " + ZRecordOptions.VERSION_AS_OF + ", "
          + ZRecordOptions.TAG + " and " + ZRecordOptions.TIMESTAMP_AS_OF
          + " exclude each other; give one of them");
    }
    return new VersionSelector(version.or(() -> tag), timestamp);
  }

  /** Tells whether nothing is selected. */
  public boolean isEmpty() {
    return version.isEmpty() && timestamp.isEmpty();
  }

  /**
   * Returns the version to read, if the options select one.
   *
   * @throws IllegalArgumentException if the time cannot be parsed
   */
  public Optional<TimeTravel> timeTravel() {
    return version.map(TimeTravel::of).or(() -> timestamp.map(VersionSelector::at));
  }

  private static TimeTravel at(String timestamp) {
    return TimeTravel.at(instant(ZRecordOptions.TIMESTAMP_AS_OF, timestamp));
  }

  /** Parses a time as Spark casts a string to a timestamp. */
  static Instant instant(String option, String timestamp) {
    return OptionValue.parse(option, timestamp, text -> {
      try {
        scala.Option<Object> micros = DateTimeUtils.stringToTimestamp(
            UTF8String.fromString(text),
            DateTimeUtils.getZoneId(SQLConf.get().sessionLocalTimeZone()));
        if (micros.isDefined()) {
          return Instant.EPOCH.plus((Long) micros.get(), ChronoUnit.MICROS);
        }
      } catch (DateTimeException e) {
        // The exception below says what is wrong.
      }
      throw new IllegalArgumentException("use a time such as 2026-01-31 12:00:00");
    });
  }
}
