package io.zrecord.internal.shard.fetch;

import io.zrecord.read.ReadMetrics;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Ranges of files that were asked for before their records are selected. Readers of a dataset share
 * one object. A range is held until all who asked for it have dropped it. All ranges of the process
 * take at most a third of the heap: what is beyond is not asked for, and readers ask when they need
 * it. Thread-safe.
 */
public final class Prefetched {
  /** Bytes of a request. */
  public static final int PIECE_BYTES = 8 << 20;

  /** Overlapping ranges among which the one with some bytes is looked for. */
  private static final int MOST_OVERLAPS = 4;

  private static final long MOST_BYTES = Runtime.getRuntime().maxMemory() / 3;
  private static final AtomicLong HELD_BYTES = new AtomicLong();

  private final Map<Windows, ConcurrentSkipListMap<Long, Range>> files = new ConcurrentHashMap<>();

  /** A range of a file, in pieces that are there or were asked for. */
  public static final class Range {
    private final Windows file;
    private final long from;
    private final long to;
    private final List<CompletableFuture<ByteBuffer>> pieces = new ArrayList<>();
    private final AtomicInteger users = new AtomicInteger(1);

    private Range(Windows file, long from, long to) {
      this.file = file;
      this.from = from;
      this.to = to;
    }

    /** Adds a user. Returns false if the last one has dropped the range. */
    private boolean share() {
      return users.getAndUpdate(count -> count == 0 ? 0 : count + 1) > 0;
    }

    /** Tells whether a request for a part of the range failed or was canceled. */
    private boolean hasFailed() {
      for (int piece = 0; piece < pieces.size(); piece++) {
        if (pieces.get(piece).isCompletedExceptionally()) {
          return true;
        }
      }
      return false;
    }

    /** Returns the position of the first byte. */
    public long from() {
      return from;
    }

    /** Returns the position after the last byte. */
    public long to() {
      return to;
    }

    /** Returns the number of pieces, of {@link #PIECE_BYTES} each but the last. */
    public int pieceCount() {
      return pieces.size();
    }

    /** Tells whether a piece is there. */
    public boolean isHere(int piece) {
      return pieces.get(piece).isDone();
    }

    /**
     * Returns a piece, and waits for it. Asks for the piece again if the request failed, or was
     * canceled because the range was dropped.
     */
    public ByteBuffer piece(int piece) {
      try {
        return pieces.get(piece).join();
      } catch (CompletionException | CancellationException e) {
        return read(piece);
      }
    }

    private ByteBuffer read(int piece) {
      long position = from + (long) piece * PIECE_BYTES;
      return file.read(position, (int) Math.min(PIECE_BYTES, to - position));
    }
  }

  /**
   * Asks for a range, and returns at once. Shares a range that contains these bytes and is held.
   *
   * @param metrics where requests are counted
   * @return null if there is no room
   */
  public @Nullable Range ask(Windows file, long from, long to, ReadMetrics metrics) {
    Range held = find(file, from, to);
    if (held != null && held.share()) {
      return held;
    }
    long bytes = to - from;
    if (HELD_BYTES.addAndGet(bytes) > MOST_BYTES) {
      HELD_BYTES.addAndGet(-bytes);
      return null;
    }
    Range range = new Range(file, from, to);
    try {
      for (int piece = 0; from + (long) piece * PIECE_BYTES < to; piece++) {
        int number = piece;
        range.pieces.add(Requests.later(() -> range.read(number)));
      }
    } catch (Throwable e) {
      // Such as a thread that cannot be started.
      drop(range);
      throw e;
    }
    metrics.requests.add(range.pieceCount());
    metrics.bytesRequested.add(bytes);
    files.computeIfAbsent(file, key -> new ConcurrentSkipListMap<>()).put(from, range);
    return range;
  }

  /**
   * Returns a range that contains some bytes of a file, and of which no request has failed; null if
   * there is none.
   */
  public @Nullable Range find(Windows file, long from, long to) {
    ConcurrentSkipListMap<Long, Range> ranges = files.get(file);
    if (ranges == null) {
      return null;
    }
    Map.Entry<Long, Range> found = ranges.floorEntry(from);
    for (int i = 0; found != null && i < MOST_OVERLAPS; i++) {
      if (to <= found.getValue().to && !found.getValue().hasFailed()) {
        return found.getValue();
      }
      found = ranges.lowerEntry(found.getKey());
    }
    return null;
  }

  /**
   * Drops a range. Call this once for each time that the range was asked for; readers keep the
   * pieces that they use.
   */
  public void drop(Range range) {
    if (range.users.decrementAndGet() > 0) {
      return;
    }
    ConcurrentSkipListMap<Long, Range> ranges = files.get(range.file);
    if (ranges != null) {
      ranges.remove(range.from, range);
    }
    range.pieces.forEach(piece -> piece.cancel(false));
    HELD_BYTES.addAndGet(range.from - range.to);
  }
}
