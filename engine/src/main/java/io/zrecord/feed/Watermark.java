package io.zrecord.feed;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** How far a feed is done: all batches up to a cursor, and some beyond. Thread-safe. */
final class Watermark {
  private final FeedPlan plan;
  private final Cursor reached;
  private final TreeMap<Long, Cursor> ahead = new TreeMap<>();
  private long next;

  Watermark(FeedPlan plan, Cursor start) {
    this.plan = plan;
    this.reached = start.copy();
  }

  /** A batch is done. */
  synchronized void complete(long number, Cursor after) {
    if (number != next) {
      ahead.put(number, after.copy());
      return;
    }
    reached.copyFrom(after);
    next++;
    while (!ahead.isEmpty() && ahead.firstKey() == next) {
      Map.Entry<Long, Cursor> first = ahead.firstEntry();
      reached.copyFrom(first.getValue());
      ahead.remove(first.getKey());
      next++;
    }
  }

  synchronized FeedState state() {
    List<Long> beyond = new ArrayList<>();
    ahead.keySet().forEach(number -> beyond.add(number - next));
    return FeedState.of(plan, reached, beyond);
  }
}
