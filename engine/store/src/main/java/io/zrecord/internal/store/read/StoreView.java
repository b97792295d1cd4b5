package io.zrecord.internal.store.read;

import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.MapFaults;
import io.zrecord.internal.store.StoreParts;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * A view of a store for readers. Readers select one committed state while a writer, of this process
 * or another, continues. Thread-safe.
 */
public final class StoreView implements AutoCloseable {
  private static final int SPINS = 1000;
  private static final long PAUSE_NANOS = 20_000;

  /** Wait that is suspicious. A change takes microseconds, or milliseconds for a large deletion. */
  private static final long STALLED_NANOS = 1_000_000_000;

  private final StoreParts parts;
  private final Helpers helpers;
  private final SharedValues shared;
  private final List<Queue<LiveFieldReader>> idleReaders = new ArrayList<>();

  /**
   * Creates a view of a store.
   *
   * @param helperThreads threads that may help with gathers that wait for the medium or for a codec
   */
  public StoreView(
      StoreParts parts, Verification verification, ReadMetrics metrics, int helperThreads) {
    this.parts = parts;
    this.shared = new SharedValues(parts, verification, metrics);
    this.helpers = new Helpers(shared, helperThreads);
    for (int i = 0; i < parts.fields().size(); i++) {
      idleReaders.add(new ConcurrentLinkedQueue<>());
    }
  }

  /** Returns the parts that this view reads. */
  public StoreParts parts() {
    return parts;
  }

  /** Returns the number of records that can be read now. */
  public long length() {
    return parts.live().length();
  }

  /**
   * Tells whether a repair replaced the parts that this view reads. The store must then be opened
   * again.
   */
  public boolean isSucceeded() {
    return parts.live().isSucceeded(parts.files(), parts.storeId());
  }

  /** Takes a reader of a field, for one thread, which gives the reader back. */
  public LiveFieldReader takeReader(int field) {
    LiveFieldReader reader = idleReaders.get(field).poll();
    return reader != null ? reader : new LiveFieldReader(shared, helpers, this::selectAlone, field);
  }

  /** Takes a reader back. The caller may not use the reader any more. */
  public void giveBack(LiveFieldReader reader) {
    reader.clear();
    idleReaders.get(reader.ordinal()).add(reader);
  }

  /**
   * Looks up records for several readers at once. All readers get one committed state, in all
   * records and fields, whatever the writer does meanwhile. Everything needed to read the values is
   * mapped then, because a rewrite may delete their chunks.
   *
   * @return false if the store was rewritten; the parts must then be opened again
   * @throws IndexOutOfBoundsException if an index is not within the length
   */
  public boolean select(long[] indices, int from, int count, List<LiveFieldReader> readers) {
    readers.forEach(reader -> reader.begin(count));
    Lookup lookup = new Lookup(parts, indices, from, count, readers);
    try {
      lookUp(lookup);
      if (!lookup.isRetired()) {
        readers.forEach(reader -> reader.end(indices, from, count));
      }
      return !lookup.isRetired();
    } catch (ZRecordException e) {
      // The files that a rewrite replaced are closed and deleted.
      if (parts.isCurrent().test(parts.live().recoveryStamp())) {
        throw e;
      }
      return false;
    }
  }

  private boolean selectAlone(long[] indices, int from, int count, LiveFieldReader reader) {
    return select(indices, from, count, List.of(reader));
  }

  private void lookUp(Lookup lookup) {
    try {
      try {
        if (!lookup.attempt()) {
          lookUpPatiently(lookup);
        }
      } finally {
        MapFaults.surface();
      }
    } catch (InternalError e) {
      throw truncated(e);
    }
  }

  private void lookUpPatiently(Lookup lookup) {
    long start = System.nanoTime();
    for (int spins = 0; !lookup.isRetired() && !lookup.attempt(); spins++) {
      if (spins < SPINS) {
        Thread.onSpinWait();
      } else {
        LockSupport.parkNanos(PAUSE_NANOS);
        if (isSucceeded()) {
          lookup.retire();
        }
        long waited = System.nanoTime() - start;
        if (waited > STALLED_NANOS) {
          parts.onStalled().accept(waited);
        }
      }
    }
  }

  private TruncatedFileException truncated(InternalError cause) {
    return new TruncatedFileException(
        parts.files().location(),
        "Cannot read " + parts.files().location()
            + ": a file of entries was cut while it was mapped. Restore it from a copy",
        cause);
  }

  /** Lets the helpers end. Readers and their selections stay usable. */
  @Override
  public void close() {
    helpers.close();
  }
}
