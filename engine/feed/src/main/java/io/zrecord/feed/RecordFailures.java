package io.zrecord.feed;

import java.util.Map;
import java.util.TreeMap;

/**
 * Collects the records of a batch that cannot be delivered, by their positions in the batch. The
 * first reason of a record counts. Used by one thread.
 */
final class RecordFailures {
  private final Map<Integer, Bad> byPosition = new TreeMap<>();

  /**
   * Says why a record is bad.
   *
   * @param field the name of a field, or {@code transform}
   * @param cause what went wrong
   */
  record Bad(String field, Exception cause) {}

  void add(int position, String field, Exception cause) {
    byPosition.putIfAbsent(position, new Bad(field, cause));
  }

  boolean isEmpty() {
    return byPosition.isEmpty();
  }

  Map<Integer, Bad> byPosition() {
    return byPosition;
  }
}
