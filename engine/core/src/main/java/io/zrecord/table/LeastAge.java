package io.zrecord.table;

import java.time.Duration;
import java.util.Objects;

/** Checks that what is deleted is old enough for no process to be working with it. */
final class LeastAge {
  private LeastAge() {}

  static void require(String what, Duration age, Duration least) {
    Objects.requireNonNull(age, "olderThan");
    if (age.compareTo(least) < 0) {
      throw new IllegalArgumentException("Cannot delete " + what + " older than " + age
          + ": a commit or a reader that goes on may need them; give " + least + " or more");
    }
  }
}
