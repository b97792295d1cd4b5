package io.zrecord.feed;

import java.util.Map;
import java.util.TreeMap;

/** Records of a batch that cannot be delivered, by their places in it; of several reasons the first counts. Belongs to one thread. */
final class BadValues {
  private final Map<Integer, Bad> byPlace = new TreeMap<>();

  /**
   * Why a record is bad.
   *
   * @param field or {@code transform}
   * @param cause what went wrong
   */
  record Bad(String field, Exception cause) {}

  void add(int place, String field, Exception cause) {
    byPlace.putIfAbsent(place, new Bad(field, cause));
  }

  boolean isEmpty() {
    return byPlace.isEmpty();
  }

  Map<Integer, Bad> byPlace() {
    return byPlace;
  }
}
