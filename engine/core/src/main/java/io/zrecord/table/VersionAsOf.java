package io.zrecord.table;

import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.RetainedVersions;
import java.time.Instant;
import java.util.List;

/** Finds a version by its time. Times rise with the numbers. */
final class VersionAsOf {
  private final String location;
  private final RetainedVersions versions;

  VersionAsOf(String location, RetainedVersions versions) {
    this.location = location;
    this.versions = versions;
  }

  /**
   * Returns the newest version committed at or before a time.
   *
   * @throws VersionNotFoundException if there is none, or it was expired
   */
  Manifest find(Instant time) {
    List<Long> numbers = versions.numbers();
    int low = 0;
    int high = numbers.size() - 1;
    Manifest found = versions.read(numbers.get(0));
    if (timeOf(found).isAfter(time)) {
      Manifest last = versions.read(numbers.get(high));
      throw new VersionNotFoundException(
          location,
          "Cannot read " + location + " as of " + time + ": its versions are " + found.version()
              + " of " + timeOf(found) + " to " + last.version() + " of " + timeOf(last));
    }
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      Manifest manifest = versions.read(numbers.get(middle));
      if (timeOf(manifest).isAfter(time)) {
        high = middle - 1;
      } else {
        low = middle;
        found = manifest;
      }
    }
    if (low + 1 < numbers.size()) {
      requireNext(time, found.version(), numbers.get(low + 1));
    }
    return found;
  }

  private void requireNext(Instant time, long found, long next) {
    if (next == found + 1) {
      return;
    }
    if (versions.has(found + 1)) {
      // Its file is missing, which reading it reports.
      versions.read(found + 1);
    }
    throw new VersionNotFoundException(
        location,
        "Cannot read " + location + " as of " + time + ": versions of that time, between " + found
            + " and " + next + ", were expired; ask for one of the versions "
            + versions.described());
  }

  private static Instant timeOf(Manifest manifest) {
    return Instant.ofEpochMilli(manifest.timestampMillis());
  }
}
