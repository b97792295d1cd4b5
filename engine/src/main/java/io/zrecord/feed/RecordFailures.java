package io.zrecord.feed;

import java.util.Map;
import java.util.TreeMap;

/**
 * Records of a batch that cannot be delivered, by their positions in the batch; of several reasons
 * the first counts. Used by one thread.
 */
final class RecordFailures {
  private final Map<Integer, Bad> byPosition = new TreeMap<>();

  /**
   * Why a record is bad.
   *
   * @param field or {@code transform}
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
