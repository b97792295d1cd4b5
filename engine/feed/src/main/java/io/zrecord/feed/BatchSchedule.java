package io.zrecord.feed;

import java.util.Set;

/** Hands the batches of a plan to loaders, one after the other. Thread-safe. */
final class BatchSchedule {
  private final FeedPlan plan;
  private final Cursor cursor;
  private final Cursor ahead;
  private final BatchRange rangeAhead;
  private final Set<Long> delivered;
  private long number;
  private boolean isStopped;

  /** @param delivered numbers of batches that were delivered before the feed was resumed */
  BatchSchedule(FeedPlan plan, Cursor start, Set<Long> delivered) {
    this.plan = plan;
    this.cursor = start.copy();
    this.ahead = start.copy();
    this.rangeAhead = new BatchRange(plan.group(0));
    this.delivered = delivered;
  }

  /** Gives a slot the next batch; returns false after the last one. */
  synchronized boolean next(Slot slot) {
    while (!isStopped && plan.step(cursor, slot.range())) {
      long current = number++;
      if (delivered.isEmpty() || !delivered.contains(current)) {
        slot.begin(current, cursor);
        return true;
      }
    }
    return false;
  }

  /** Returns whether there is another batch. */
  synchronized boolean hasNext() {
    ahead.copyFrom(cursor);
    return !isStopped && plan.step(ahead, rangeAhead);
  }

  /** Lets no further batch begin. */
  synchronized void stop() {
    isStopped = true;
  }
}
