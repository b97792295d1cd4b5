package io.zrecord.cli;

import io.zrecord.MovedRecord;
import java.io.PrintWriter;
import java.util.Map;
import java.util.TreeMap;

/** Tracks records over several deletions, each of which moves the last record to the free place. */
final class MovedRecords {
  /** The original index of the record at each changed index. */
  private final Map<Long, Long> origins = new TreeMap<>();

  void add(MovedRecord moved) {
    Long origin = origins.remove(moved.from());
    if (moved.from() != moved.to()) {
      origins.put(moved.to(), origin == null ? moved.from() : origin);
    }
  }

  /** Returns the original index of the record that is at {@code index} now. */
  long origin(long index) {
    return origins.getOrDefault(index, index);
  }

  void print(PrintWriter out) {
    origins.forEach((now, before) -> out.println("record " + before + " is now " + now));
  }
}
