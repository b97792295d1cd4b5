package io.zrecord.spark.options;

import java.util.Optional;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The version of a table that is read unless the options of a read select another version.
 * Immutable.
 *
 * @param loaded the version at which the table was loaded
 * @param wanted the version to read: {@code loaded}, or a default of the session
 * @param isNamed whether the statement itself names the version
 */
public record VersionChoice(TimeTravel loaded, TimeTravel wanted, boolean isNamed) {

  /** Returns the choice of a version that a statement names. */
  public static VersionChoice named(TimeTravel time) {
    return new VersionChoice(time, time, true);
  }

  /** Returns the choice of the session's default, for a table that was loaded at that version. */
  public static VersionChoice byDefault(TimeTravel time) {
    return new VersionChoice(time, time, false);
  }

  /**
   * Returns the choice of the session's default, for a table that was loaded at the newest version
   * whatever the default.
   */
  public static VersionChoice loadedNewest() {
    return new VersionChoice(TimeTravel.newest(), ofSession(), false);
  }

  /** Returns the version that the session's defaults select. */
  public static TimeTravel ofSession() {
    return VersionSelector.ofSession().timeTravel().orElse(TimeTravel.newest());
  }

  /**
   * Returns the version that a read with these options reads.
   *
   * @param location for messages
   * @throws IllegalArgumentException if the options select another version than the statement
   */
  public TimeTravel of(String location, CaseInsensitiveStringMap options) {
    Optional<TimeTravel> asked = VersionSelector.ofStatement(options).timeTravel();
    if (asked.isPresent() && isNamed && !asked.get().equals(loaded)) {
      throw new IllegalArgumentException("Cannot read " + location + " at " + loaded
          + " as the statement says, and at " + asked.get() + " as its options say; leave one out");
    }
    return asked.orElse(wanted);
  }
}
