package io.zrecord.internal.shard.read;

import io.zrecord.internal.shard.Requests;
import io.zrecord.internal.shard.Windows;
import io.zrecord.read.ReadMetrics;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Fetches the bytes that a selection needs from files that are not mapped: all places are known
 * first, ranges near each other become one request, and the requests are in flight together.
 * Belongs to one thread.
 */
final class Fetcher {
  /** Bytes between two ranges up to which one request costs less than two. */
  private static final long JOINED_GAP_BYTES = 256 << 10;

  /** Length from which a request for several ranges must mostly ask for wanted bytes. */
  private static final long SPARSE_BYTES = 1 << 20;

  /** Share of wanted bytes below which a long request is not made longer. */
  private static final double LEAST_WANTED = 0.25;

  /** Bytes of a request. */
  private static final int PIECE_BYTES = 8 << 20;

  private final WindowTable table;
  private final ReadMetrics metrics;
  private final List<Wanted> wanted = new ArrayList<>();
  private final List<ShardPart> parts = new ArrayList<>();
  private final List<Integer> pages = new ArrayList<>();

  /** Bytes of a chunk. */
  private record Wanted(ShardPart part, int chunk, long from, long to) {}

  private record Piece(Windows file, long from, int lengthBytes) {}

  Fetcher(WindowTable table, ReadMetrics metrics) {
    this.table = table;
    this.metrics = metrics;
  }

  /** Takes note of bytes {@code [from, to)} of a chunk, given by its ordinal in the field. */
  void want(ShardPart part, int chunk, long from, long to) {
    if (from < to) {
      wanted.add(new Wanted(part, chunk, from, to));
    }
  }

  /** Drops what was fetched. Call this while no selection is in use. */
  void forget() {
    for (int i = pages.size() - 1; i >= 0; i--) {
      table.removePage(pages.get(i));
    }
    pages.clear();
    parts.forEach(ShardPart::forgetFetched);
    parts.clear();
    wanted.clear();
  }

  /** Fetches what was wanted. */
  void fetch() {
    if (wanted.isEmpty()) {
      return;
    }
    Map<ShardPart, Integer> ordinals = new HashMap<>();
    wanted.forEach(range -> ordinals.putIfAbsent(range.part, ordinals.size()));
    parts.addAll(ordinals.keySet());
    wanted.sort(Comparator.<Wanted>comparingInt(range -> ordinals.get(range.part))
        .thenComparingInt(Wanted::chunk)
        .thenComparingLong(Wanted::from));
    List<Piece> pieces = new ArrayList<>();
    int firstWindow = table.count();
    for (int first = 0; first < wanted.size(); ) {
      int end = endOfChunk(first);
      addChunk(wanted.subList(first, end), firstWindow, pieces);
      first = end;
    }
    wanted.clear();
    ByteBuffer[] fetched = fetch(pieces);
    for (int i = 0; i < fetched.length; i++) {
      pages.add(table.addPage(fetched[i], pieces.get(i).file.path()));
    }
  }

  private int endOfChunk(int first) {
    Wanted begin = wanted.get(first);
    int end = first + 1;
    while (end < wanted.size()
        && wanted.get(end).part == begin.part
        && wanted.get(end).chunk == begin.chunk) {
      end++;
    }
    return end;
  }

  /** Joins the ranges of a chunk, cuts them into pieces, and tells the part where they will be. */
  private void addChunk(List<Wanted> ranges, int firstWindow, List<Piece> pieces) {
    List<Wanted> joined = join(ranges);
    Wanted one = joined.get(0);
    Windows file = one.part.file(one.chunk);
    int[] windows = new int[joined.size()];
    for (int i = 0; i < windows.length; i++) {
      Wanted range = joined.get(i);
      windows[i] = firstWindow + pieces.size();
      for (long from = range.from; from < range.to; from += PIECE_BYTES) {
        pieces.add(new Piece(file, from, (int) Math.min(PIECE_BYTES, range.to - from)));
      }
    }
    one.part.setFetched(
        one.chunk,
        new FetchedRanges(
            joined.stream().mapToLong(Wanted::from).toArray(),
            joined.stream().mapToLong(Wanted::to).toArray(),
            windows,
            PIECE_BYTES));
  }

  private static List<Wanted> join(List<Wanted> ranges) {
    List<Wanted> joined = new ArrayList<>();
    long useful = 0;
    for (Wanted range : ranges) {
      Wanted last = joined.isEmpty() ? null : joined.get(joined.size() - 1);
      long more = last == null ? 0 : range.to - Math.max(last.to, range.from);
      if (last != null && isJoined(last, range, useful + more)) {
        joined.set(
            joined.size() - 1,
            new Wanted(last.part, last.chunk, last.from, Math.max(last.to, range.to)));
        useful += Math.max(0, more);
      } else {
        joined.add(range);
        useful = range.to - range.from;
      }
    }
    return joined;
  }

  private static boolean isJoined(Wanted last, Wanted range, long useful) {
    long bytes = range.to - last.from;
    return range.from <= last.to
        || (range.from - last.to <= JOINED_GAP_BYTES
            && (bytes <= SPARSE_BYTES || useful >= LEAST_WANTED * bytes));
  }

  private ByteBuffer[] fetch(List<Piece> pieces) {
    ByteBuffer[] fetched = new ByteBuffer[pieces.size()];
    List<Runnable> requests = new ArrayList<>();
    for (int i = 0; i < fetched.length; i++) {
      int ordinal = i;
      Piece piece = pieces.get(i);
      requests.add(() -> fetched[ordinal] = piece.file.read(piece.from, piece.lengthBytes));
      metrics.bytesRequested.add(piece.lengthBytes);
    }
    metrics.requests.add(fetched.length);
    long start = System.nanoTime();
    Requests.run(pieces.get(0).file.path(), requests);
    metrics.waitNanos.add(System.nanoTime() - start);
    return fetched;
  }
}
