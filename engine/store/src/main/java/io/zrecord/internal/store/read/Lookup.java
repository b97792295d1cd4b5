package io.zrecord.internal.store.read;

import io.zrecord.internal.store.LiveState;
import io.zrecord.internal.store.RecordIndices;
import io.zrecord.internal.store.StoreParts;
import java.util.List;

/**
 * Looks up the entries of records so that all are of one committed state. Stamps are loaded before
 * the entries and compared after. Entries that changed meanwhile are loaded again, and everything
 * is compared again, until nothing has changed. The look-up ends soon however many records there
 * are, because few records change at a time. Belongs to one thread.
 */
final class Lookup {
  private static final long NEVER = -1;

  private final StoreParts parts;
  private final long[] indices;
  private final int from;
  private final int count;
  private final List<LiveFieldReader> readers;
  private final long[] stamps;
  private final long highest;
  private final long lowest;
  private long recoveryStamp = NEVER;
  private boolean isRetired;

  Lookup(StoreParts parts, long[] indices, int from, int count, List<LiveFieldReader> readers) {
    this.parts = parts;
    this.indices = indices;
    this.from = from;
    this.count = count;
    this.readers = readers;
    this.stamps = new long[count];
    long max = -1;
    long min = 0;
    for (int k = from; k < from + count; k++) {
      max = Math.max(max, indices[k]);
      min = Math.min(min, indices[k]);
    }
    this.highest = max;
    this.lowest = min;
  }

  /**
   * Loads the missing entries.
   *
   * @return whether all entries are now of one state; false if the writer was changing them, or if
   *     the tables are retired
   * @throws IndexOutOfBoundsException if an index is not within the length
   */
  boolean attempt() {
    LiveState live = parts.live();
    long recovery = live.recoveryStamp();
    if ((recovery & 1) != 0) {
      return false;
    }
    if (recovery != recoveryStamp && !parts.isCurrent().test(recovery)) {
      isRetired = true;
      return false;
    }
    long length = requireWithin();
    for (LiveFieldReader reader : readers) {
      parts.tables().get(reader.ordinal()).requireCapacity(length);
    }
    if (recovery == recoveryStamp) {
      loadChanged(live);
    } else {
      loadAll(live);
      recoveryStamp = recovery;
    }
    LiveState.validate();
    if (live.recoveryStamp() != recovery || !areStampsCurrent(live)) {
      return false;
    }
    requireWithin();
    return true;
  }

  /** Tells whether the store has other tables by now. */
  boolean isRetired() {
    return isRetired;
  }

  /** Ends the look-up: the store has another file of stamps. */
  void retire() {
    isRetired = true;
  }

  private long requireWithin() {
    long length = parts.live().length();
    if (highest >= length || lowest < 0) {
      RecordIndices.requireWithin(lowest < 0 ? lowest : highest, length);
    }
    return length;
  }

  private void loadAll(LiveState live) {
    for (int k = 0; k < count; k++) {
      stamps[k] = live.changeStamp(indices[from + k]);
    }
    for (LiveFieldReader reader : readers) {
      reader.load(parts.tables().get(reader.ordinal()), indices, from, count, 0);
    }
  }

  private void loadChanged(LiveState live) {
    for (int k = 0; k < count; k++) {
      long stamp = live.changeStamp(indices[from + k]);
      if (stamp != stamps[k] || (stamp & 1) != 0) {
        stamps[k] = stamp;
        for (LiveFieldReader reader : readers) {
          reader.load(parts.tables().get(reader.ordinal()), indices, from + k, 1, k);
        }
      }
    }
  }

  private boolean areStampsCurrent(LiveState live) {
    long odd = 0;
    long changed = 0;
    for (int k = 0; k < count; k++) {
      odd |= stamps[k];
      changed |= stamps[k] ^ live.changeStamp(indices[from + k]);
    }
    return (odd & 1) == 0 && changed == 0;
  }
}
