package io.zrecord.feed;

import io.zrecord.sampler.Sampler;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Tracks how far a feed is done: all batches up to a cursor, and some beyond. Thread-safe. */
final class Watermark {
  private final FeedPlan plan;
  private final Cursor reached;
  private final TreeMap<Long, Cursor> ahead = new TreeMap<>();
  private final Set<Long> before;
  private final BatchRange anyRange;
  private long next;

  /** @param before numbers of batches that were done before the feed was resumed */
  Watermark(FeedPlan plan, Cursor start, Set<Long> before) {
    this.plan = plan;
    this.before = new HashSet<>(before);
    this.anyRange = new BatchRange(plan.group(0));
    this.reached = start.copy();
  }

  /** Notes that a batch is done. */
  synchronized void complete(long number, Cursor after) {
    if (number != next) {
      ahead.put(number, after.copy());
      return;
    }
    reached.copyFrom(after);
    next++;
    while (advances()) {
      next++;
    }
  }

  /** Moves over the next batch, if that batch is done as well. */
  private boolean advances() {
    Cursor after = ahead.isEmpty() ? null : ahead.remove(next);
    if (after != null) {
      reached.copyFrom(after);
      return true;
    }
    return !before.isEmpty() && before.remove(next) && plan.step(reached, anyRange);
  }

  /**
   * Returns how many batches of the epoch of {@link #state} are not done; {@link Sampler#ENDLESS}
   * if the epoch does not end.
   */
  synchronized long batchesLeft() {
    long left = plan.batchesLeft(plan.settled(reached));
    long first = next;
    long done = Stream.concat(ahead.keySet().stream(), before.stream())
        .filter(number -> number - first < left)
        .count();
    return left == Sampler.ENDLESS ? left : left - done;
  }

  synchronized FeedState state() {
    List<Long> beyond = new ArrayList<>();
    ahead.keySet().forEach(number -> beyond.add(number - next));
    before.forEach(number -> beyond.add(number - next));
    beyond.sort(null);
    return FeedState.of(plan, reached, beyond);
  }
}
