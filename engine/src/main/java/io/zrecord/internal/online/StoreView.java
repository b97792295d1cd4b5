package io.zrecord.internal.online;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.io.MapFaults;
import io.zrecord.scan.ReadMetrics;
import io.zrecord.scan.Verification;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What readers of a store share: the tables, the chunks that they have mapped, and what was verified. It reads while a writer, of
 * this process or another, goes on. Thread-safe.
 */
public final class StoreView implements AutoCloseable {
  /** Far more chunks than a store can have, and few enough for an array. */
  private static final int MAX_CHUNK_ID = 1 << 24;

  private static final int SPINS = 1000;
  private static final long PAUSE_NANOS = 20_000;

  /** A writer is at work for microseconds, or for the milliseconds of a large deletion. */
  private static final long STALLED_NANOS = 1_000_000_000;

  private final StoreParts parts;
  private final Verification verification;
  private final ReadMetrics metrics;
  private final GatherPool pool;
  private final VerifiedEntries[] verified;
  private final List<Queue<LiveFieldReader>> idleReaders = new ArrayList<>();
  private final List<Queue<LiveValues>> idleValues = new ArrayList<>();

  /** By id, grown when a larger one appears. */
  private volatile AtomicReferenceArray<@Nullable LiveChunk> chunks =
      new AtomicReferenceArray<>(64);

  /**
   * A view of a store.
   *
   * @param helperThreads threads that may help with gathers that wait for the medium or for a codec
   */
  public StoreView(
      StoreParts parts, Verification verification, ReadMetrics metrics, int helperThreads) {
    this.parts = parts;
    this.verification = verification;
    this.metrics = metrics;
    this.pool = new GatherPool(helperThreads);
    this.verified = new VerifiedEntries[parts.fields().size()];
    for (int i = 0; i < verified.length; i++) {
      verified[i] = new VerifiedEntries();
      idleReaders.add(new ConcurrentLinkedQueue<>());
      idleValues.add(new ConcurrentLinkedQueue<>());
    }
  }

  /** What it looks at. */
  public StoreParts parts() {
    return parts;
  }

  /** Records that can be read now. */
  public long length() {
    return parts.live().length();
  }

  /** Whether what it looks at was replaced by a repair: it has to be looked at anew. */
  public boolean isSucceeded() {
    return parts.live().isSucceeded(parts.files(), parts.storeId());
  }

  /** A reader of a field, for one thread, which gives it back. */
  public LiveFieldReader takeReader(int field) {
    LiveFieldReader reader = idleReaders.get(field).poll();
    return reader != null ? reader : new LiveFieldReader(this, field);
  }

  /** Takes a reader back; nobody else may use it any more. */
  public void giveBack(LiveFieldReader reader) {
    reader.clear();
    idleReaders.get(reader.ordinal()).add(reader);
  }

  /** What a helper works with, who gives it back. */
  LiveValues takeValues(int field) {
    LiveValues values = idleValues.get(field).poll();
    return values != null ? values : new LiveValues(this, field, true);
  }

  void giveBack(int field, LiveValues values) {
    idleValues.get(field).add(values);
  }

  FieldSpec field(int field) {
    return parts.fields().get(field);
  }

  ReadMetrics metrics() {
    return metrics;
  }

  GatherPool pool() {
    return pool;
  }

  String path(int field) {
    return parts.tables().get(field).path();
  }

  /**
   * Looks up records for several readers at once: what they get is one committed state, in all records and fields, whatever the writer
   * does meanwhile. All that is needed to read the values is mapped then: their chunks may be deleted by a rewrite.
   *
   * @return false if the store was rewritten: it has to be looked at anew
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
      // Files that a rewrite has replaced are closed and deleted.
      if (parts.isCurrent().test(parts.live().recoveryStamp())) {
        throw e;
      }
      return false;
    }
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

  /** Tells which of the values that were looked up must be verified. */
  void findDue(int field, long[] indices, int from, int count, LiveSlots slots, int slot) {
    switch (verification) {
      case NEVER -> Arrays.fill(slots.isDue, slot, slot + count, false);
      case ALWAYS -> Arrays.fill(slots.isDue, slot, slot + count, true);
      case FIRST -> verified[field].findDue(indices, from, count, slots, slot);
    }
  }

  /** Notes that a checksum held; returns whether it must be compared again at the next read all the same. */
  boolean setVerified(int field, long index, long word0, long word1) {
    if (verification == Verification.FIRST) {
      verified[field].add(index, word0, word1);
    }
    return verification == Verification.ALWAYS;
  }

  /**
   * The window that the stored bytes of an entry begin in, after a check of all that can be wrong with it. If they reach beyond its
   * end, they go on in the next one.
   */
  ByteBuffer window(int field, long index, long word0, long word1, int offset) {
    int length = Entry.physicalLength(word1);
    ByteBuffer window = chunk(field, index, word0, word1).window(word0 + offset, length - offset);
    if (window == null) {
      throw corruptEntry(field, index, word0, word1);
    }
    return window;
  }

  /** Fills what remains of the target with stored bytes of a value from an offset on, by reading the file. */
  void read(int field, long index, long word0, long word1, int offset, ByteBuffer target) {
    if (!chunk(field, index, word0, word1).read(word0 + offset, target)) {
      throw corruptEntry(field, index, word0, word1);
    }
  }

  /** The chunk of an entry, which must be possible. */
  private LiveChunk chunk(int field, long index, long word0, long word1) {
    int length = Entry.physicalLength(word1);
    int chunkId = Entry.chunkId(word1);
    if (length < 0
        || word0 < ChunkHeader.BYTES
        || (word0 & 7) != 0
        || chunkId < 0
        || chunkId > MAX_CHUNK_ID) {
      throw corruptEntry(field, index, word0, word1);
    }
    AtomicReferenceArray<@Nullable LiveChunk> known = chunks;
    LiveChunk chunk = chunkId < known.length() ? known.getAcquire(chunkId) : null;
    return chunk == null ? openChunk(chunkId) : chunk;
  }

  private synchronized LiveChunk openChunk(int chunkId) {
    AtomicReferenceArray<@Nullable LiveChunk> known = chunks;
    LiveChunk chunk = chunkId < known.length() ? known.get(chunkId) : null;
    if (chunk != null) {
      return chunk;
    }
    LiveChunk opened = LiveChunk.open(parts.files(), parts.storeId(), chunkId);
    metrics.chunksOpened.increment();
    if (chunkId >= known.length()) {
      AtomicReferenceArray<@Nullable LiveChunk> grown =
          new AtomicReferenceArray<>(Math.max(chunkId + 1, 2 * known.length()));
      for (int i = 0; i < known.length(); i++) {
        grown.set(i, known.get(i));
      }
      known = grown;
    }
    known.setRelease(chunkId, opened);
    chunks = known;
    return opened;
  }

  CorruptDataException corruptEntry(int field, long index, long word0, long word1) {
    return new CorruptDataException(
        path(field),
        "Cannot read " + path(field) + ": the entry at " + index + " points to "
            + Integer.toUnsignedString(Entry.physicalLength(word1)) + " bytes at "
            + Long.toUnsignedString(word0) + " of chunk "
            + Integer.toUnsignedString(Entry.chunkId(word1))
            + ", which do not exist. Restore the file from a copy, or leave the record out");
  }

  /** Lets the helpers end. Readers and what they selected stay usable. */
  @Override
  public void close() {
    pool.close();
  }
}
