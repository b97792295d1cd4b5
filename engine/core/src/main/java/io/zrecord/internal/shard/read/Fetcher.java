package io.zrecord.internal.shard.read;

import io.zrecord.internal.shard.fetch.Prefetched;
import io.zrecord.internal.shard.fetch.Requests;
import io.zrecord.internal.shard.fetch.Windows;
import io.zrecord.read.ReadMetrics;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Fetches the bytes that a selection needs from files that are not mapped: all places are known
 * first, ranges near each other become one request, and the requests are in flight together. Bytes
 * that were asked for before are taken from there. Small files are read whole, once. Belongs to one
 * thread.
 */
final class Fetcher {
  /** Bytes between two ranges up to which one request costs less than two. */
  private static final long JOINED_GAP_BYTES = 256 << 10;

  /** Length from which a request for several ranges must mostly ask for wanted bytes. */
  private static final long SPARSE_BYTES = 1 << 20;

  /** Share of wanted bytes below which a long request is not made longer. */
  private static final double LEAST_WANTED = 0.25;

  /** Wanted bytes this near to those before are the same range from the beginning. */
  private static final long SAME_RANGE_BYTES = 64;

  private static final int PIECE_BYTES = Prefetched.PIECE_BYTES;

  private final WindowTable table;
  private final Prefetched prefetched;
  private final ReadMetrics metrics;
  private final List<Wanted> wanted = new ArrayList<>();
  private final List<ShardPart> parts = new ArrayList<>();
  private final List<Integer> pages = new ArrayList<>();
  private int firstPage;

  /** What {@link #wanted} takes in memory at most. */
  private long boundBytes;

  /** Bytes of a chunk. */
  private record Wanted(ShardPart part, int chunk, long from, long to) {}

  /**
   * What becomes a window: bytes of a file, or a piece of a range that was asked for before.
   *
   * @param lengthBytes bytes to ask for; 0 if none
   * @param range the range with the piece; null if bytes are asked for
   */
  private record Piece(
      Windows file, long from, int lengthBytes, Prefetched.@Nullable Range range, int number) {}

  Fetcher(WindowTable table, Prefetched prefetched, ReadMetrics metrics) {
    this.table = table;
    this.prefetched = prefetched;
    this.metrics = metrics;
  }

  /** Takes note of bytes {@code [from, to)} of a chunk, given by its ordinal in the field. */
  void want(ShardPart part, int chunk, long from, long to) {
    if (from >= to) {
      return;
    }
    Wanted last = wanted.isEmpty() ? null : wanted.get(wanted.size() - 1);
    if (last != null
        && last.part == part
        && last.chunk == chunk
        && from >= last.from
        && from <= last.to + SAME_RANGE_BYTES) {
      long end = Math.max(to, last.to);
      boundBytes += end - last.to;
      wanted.set(wanted.size() - 1, new Wanted(part, chunk, last.from, end));
    } else {
      boundBytes += to - from + JOINED_GAP_BYTES;
      wanted.add(new Wanted(part, chunk, from, to));
    }
  }

  /**
   * Tells whether what is wanted takes about as many bytes in memory, gaps between ranges included.
   */
  boolean isFull(long bytes) {
    if (boundBytes <= bytes) {
      return false;
    }
    boundBytes = 0;
    for (List<Wanted> ofChunk : byChunk()) {
      Windows file = fileOf(ofChunk);
      if (file.isSmall()) {
        boundBytes += file.endBytes();
      } else {
        for (Wanted joined : join(ofChunk)) {
          boundBytes += joined.to - joined.from;
        }
      }
    }
    // The next count comes after a quarter of the limit, so counting costs little.
    return boundBytes > bytes - bytes / 4;
  }

  /** Fetches bytes of a file that nobody wanted before. Returns their {@link Place}. */
  long fetchNow(Windows file, long from, int lengthBytes) {
    metrics.requests.increment();
    metrics.bytesRequested.add(lengthBytes);
    long start = System.nanoTime();
    int page = table.addPage(file.read(from, lengthBytes), file.path());
    metrics.waitNanos.add(System.nanoTime() - start);
    pages.add(page);
    return Place.of(page, 0);
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
    boundBytes = 0;
  }

  /**
   * Asks for what was wanted, without waiting.
   *
   * @param asked takes the ranges, which the caller drops, also those before a failure
   */
  void ask(List<Prefetched.Range> asked) {
    for (List<Wanted> ofChunk : takeByChunk()) {
      Windows file = fileOf(ofChunk);
      if (file.isSmall()) {
        file.askForSmall(metrics);
        continue;
      }
      for (Wanted joined : join(ofChunk)) {
        Prefetched.Range range = prefetched.ask(file, joined.from, joined.to, metrics);
        if (range == null) {
          return;
        }
        asked.add(range);
      }
    }
  }

  /** Fetches what was wanted. */
  void fetch() {
    List<Piece> pieces = new ArrayList<>();
    List<Windows> small = new ArrayList<>();
    long held = 0;
    firstPage = table.count();
    for (List<Wanted> ofChunk : takeByChunk()) {
      Windows file = fileOf(ofChunk);
      if (file.isSmall()) {
        small.add(file);
        held += file.endBytes();
      } else {
        addChunk(ofChunk, pieces);
      }
    }
    if (!pieces.isEmpty() || !small.isEmpty()) {
      ByteBuffer[] fetched = fetch(pieces, small);
      for (int i = 0; i < fetched.length; i++) {
        pages.add(table.addPage(fetched[i], pieces.get(i).file.path()));
        held += fetched[i].capacity();
      }
    }
    metrics.mostBytesHeld.accumulate(held);
  }

  /** Returns what was wanted, chunk by chunk in rising order, and forgets it. */
  private List<List<Wanted>> takeByChunk() {
    List<List<Wanted>> chunks = byChunk();
    wanted.clear();
    boundBytes = 0;
    return chunks;
  }

  private List<List<Wanted>> byChunk() {
    Map<ShardPart, Integer> ordinals = new HashMap<>();
    wanted.forEach(range -> ordinals.putIfAbsent(range.part, ordinals.size()));
    wanted.sort(Comparator.<Wanted>comparingInt(range -> ordinals.get(range.part))
        .thenComparingInt(Wanted::chunk)
        .thenComparingLong(Wanted::from));
    List<List<Wanted>> chunks = new ArrayList<>();
    for (int first = 0, end; first < wanted.size(); first = end) {
      end = endOfChunk(first);
      chunks.add(List.copyOf(wanted.subList(first, end)));
    }
    return chunks;
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

  private static Windows fileOf(List<Wanted> ofChunk) {
    return ofChunk.get(0).part.file(ofChunk.get(0).chunk);
  }

  /**
   * Returns the ranges that were asked for before and contain wanted bytes, with the pieces that
   * do.
   *
   * @param rest takes what none of them contains
   */
  private Map<Prefetched.Range, BitSet> takePrefetched(List<Wanted> ofChunk, List<Wanted> rest) {
    Map<Prefetched.Range, BitSet> found = new LinkedHashMap<>();
    Windows file = fileOf(ofChunk);
    for (Wanted range : ofChunk) {
      Prefetched.Range before = prefetched.find(file, range.from, range.to);
      if (before == null) {
        rest.add(range);
      } else {
        int first = (int) ((range.from - before.from()) / PIECE_BYTES);
        int last = (int) ((range.to - 1 - before.from()) / PIECE_BYTES);
        found.computeIfAbsent(before, key -> new BitSet()).set(first, last + 1);
      }
    }
    return found;
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

  /** Tells a part in which windows the bytes of its chunk will be, and adds these windows. */
  private void addChunk(List<Wanted> ofChunk, List<Piece> pieces) {
    List<Wanted> rest = new ArrayList<>();
    Map<Prefetched.Range, BitSet> here = takePrefetched(ofChunk, rest);
    Windows file = fileOf(ofChunk);
    List<long[]> found = new ArrayList<>();
    for (Wanted range : join(rest)) {
      found.add(new long[] {range.from, range.to, (long) firstPage + pieces.size()});
      for (long from = range.from; from < range.to; from += PIECE_BYTES) {
        int length = (int) Math.min(PIECE_BYTES, range.to - from);
        pieces.add(new Piece(file, from, length, null, 0));
      }
    }
    here.forEach((range, needed) -> {
      for (int number = needed.nextSetBit(0); number >= 0; ) {
        int end = needed.nextClearBit(number);
        long from = range.from() + (long) number * PIECE_BYTES;
        long to = Math.min(range.to(), range.from() + (long) end * PIECE_BYTES);
        found.add(new long[] {from, to, (long) firstPage + pieces.size()});
        for (; number < end; number++) {
          pieces.add(new Piece(file, 0, 0, range, number));
        }
        number = needed.nextSetBit(end);
      }
    });
    found.sort(Comparator.comparingLong(range -> range[0]));
    Wanted any = ofChunk.get(0);
    any.part.setFetched(
        any.chunk,
        new FetchedRanges(
            found.stream().mapToLong(range -> range[0]).toArray(),
            found.stream().mapToLong(range -> range[1]).toArray(),
            found.stream().mapToInt(range -> (int) range[2]).toArray(),
            PIECE_BYTES));
    parts.add(any.part);
  }

  private ByteBuffer[] fetch(List<Piece> pieces, List<Windows> small) {
    ByteBuffer[] fetched = new ByteBuffer[pieces.size()];
    List<Runnable> requests = new ArrayList<>();
    String path = "";
    for (Windows file : small) {
      if (file.isHere()) {
        metrics.regionHits.increment();
      } else {
        path = file.path();
        requests.add(() -> file.window(0, 0, metrics));
      }
    }
    int counted = requests.size();
    for (int i = 0; i < fetched.length; i++) {
      int ordinal = i;
      Piece piece = pieces.get(i);
      if (piece.lengthBytes > 0) {
        path = piece.file.path();
        requests.add(() -> fetched[ordinal] = piece.file.read(piece.from, piece.lengthBytes));
        metrics.bytesRequested.add(piece.lengthBytes);
      }
    }
    metrics.requests.add(requests.size() - counted);
    long start = System.nanoTime();
    if (!requests.isEmpty()) {
      Requests.run(path, requests);
    }
    for (int i = 0; i < fetched.length; i++) {
      Piece piece = pieces.get(i);
      if (piece.range != null) {
        metrics.regionHits.add(piece.range.isHere(piece.number) ? 1 : 0);
        fetched[i] = piece.range.piece(piece.number);
      }
    }
    metrics.waitNanos.add(System.nanoTime() - start);
    return fetched;
  }
}
