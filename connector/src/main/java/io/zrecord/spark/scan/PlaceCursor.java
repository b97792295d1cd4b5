package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Walks through the places of a set in ascending order, or through those places that a table sample
 * draws. Belongs to one thread.
 */
final class PlaceCursor {
  private final IndexSet places;
  private final long first;
  private final TableSample.@Nullable Drawing drawing;
  private long[] pending = new long[0];
  private int count;
  private int range;
  private long next;

  /**
   * Creates a cursor before the first place.
   *
   * @param places places, counted from {@code first}
   * @param drawing draws places; null takes every place
   */
  PlaceCursor(IndexSet places, long first, TableSample.@Nullable Drawing drawing) {
    this.places = places;
    this.first = first;
    this.drawing = drawing;
  }

  /**
   * Looks ahead at up to {@code most} > 0 places. Returns how many of them there are in
   * {@link #places}; 0 at the end.
   */
  int peek(int most) {
    while (count < most && range < places.rangeCount()) {
      next = Math.max(next, places.rangeFrom(range));
      long left = places.rangeTo(range) - next;
      next += drawing == null
          ? takeAll((int) Math.min(left, most - count))
          : draw(drawing, (int) Math.min(left, TableSample.Drawing.MAX_RUN));
      if (next == places.rangeTo(range)) {
        range++;
      }
    }
    return Math.min(count, most);
  }

  private int takeAll(int run) {
    reserve(run);
    for (int i = 0; i < run; i++) {
      pending[count++] = next + i;
    }
    return run;
  }

  private int draw(TableSample.Drawing draws, int run) {
    reserve(draws.most(run));
    count += draws.draw(first + next, run, first, pending, count);
    return run;
  }

  private void reserve(int more) {
    if (pending.length - count < more) {
      pending = Arrays.copyOf(pending, Math.max(2 * pending.length, Math.addExact(count, more)));
    }
  }

  /**
   * Returns the places that {@link #peek} found, from 0 on. Valid until the next call of another
   * method.
   */
  long[] places() {
    return pending;
  }

  /** Skips the first {@code taken} of the found places. */
  void skip(int taken) {
    count -= taken;
    System.arraycopy(pending, taken, pending, 0, count);
  }
}
