package io.zrecord.internal.shard.read;

import io.zrecord.read.FieldReader;
import java.util.List;

/** Bounds how many records are read at once by the bytes of their values. Stateless. */
public final class BatchBounds {
  /** Stored bytes of a field that are read at once, and a quarter of the decoded ones. */
  public static final long STORED_BYTES = 4 << 20;

  private BatchBounds() {}

  /**
   * Selects neighbouring records in all fields, as many as the field with the longest values takes
   * at once, and at least one.
   *
   * @param most at least 1
   * @return how many were selected
   */
  public static int select(List<FieldReader> readers, long index, int most) {
    int count = most;
    for (FieldReader reader : readers) {
      count = Math.min(count, reader.selectRange(index, count, STORED_BYTES));
    }
    // So far stored bytes bound a batch; decoded, they may be a thousand times as many.
    boolean fits = false;
    while (!fits) {
      fits = true;
      for (FieldReader reader : readers) {
        if (reader.count() != count) {
          reader.selectRange(index, count, Long.MAX_VALUE);
        }
        fits &= count == 1 || reader.totalLengthBytes() <= 4 * STORED_BYTES;
      }
      count = fits ? count : count / 2;
    }
    return count;
  }
}
