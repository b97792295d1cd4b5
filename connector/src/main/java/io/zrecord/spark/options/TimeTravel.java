package io.zrecord.spark.options;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/**
 * Names the moment in a dataset's history to read: a version, a tag, a time, or the newest version
 * if all are empty.
 */
public record TimeTravel(Optional<Long> version, Optional<String> tag, Optional<Instant> instant) {
  /** Names the newest version; no tag has this name. */
  public static final String NEWEST = "latest";

  /** Returns the newest version. */
  public static TimeTravel newest() {
    return new TimeTravel(Optional.empty(), Optional.empty(), Optional.empty());
  }

  /** Returns the version that was the newest at an instant. */
  public static TimeTravel at(Instant instant) {
    return new TimeTravel(Optional.empty(), Optional.empty(), Optional.of(instant));
  }

  /** Returns the version that was the newest at a time in microseconds since 1970. */
  public static TimeTravel atMicros(long timestampMicros) {
    return at(Instant.EPOCH.plus(timestampMicros, ChronoUnit.MICROS));
  }

  /** Parses {@code latest}, a version's number or a tag. */
  public static TimeTravel of(String version) {
    if (version.equalsIgnoreCase(NEWEST)) {
      return newest();
    }
    try {
      return new TimeTravel(
          Optional.of(Long.parseLong(version)), Optional.empty(), Optional.empty());
    } catch (NumberFormatException e) {
      return new TimeTravel(Optional.empty(), Optional.of(version), Optional.empty());
    }
  }

  /**
   * Refuses as a tag what would be read as a version.
   *
   * @return the tag
   * @throws IllegalArgumentException if the tag is a number or {@code latest}
   */
  public static String requireTag(String tag) {
    if (of(tag).tag().isEmpty()) {
      throw new IllegalArgumentException(
          "'" + tag + "' is no tag; use the option " + ZRecordOptions.VERSION_AS_OF
              + " for a version's number, and none for the newest version");
    }
    return tag;
  }

  @Override
  public String toString() {
    return version
        .map(number -> "version " + number)
        .or(() -> tag.map(name -> "tag '" + name + "'"))
        .or(() -> instant.map(time -> "time " + time))
        .orElse("the newest version");
  }

  /** Tells whether this is the newest version. */
  public boolean isNewest() {
    return equals(newest());
  }
}
