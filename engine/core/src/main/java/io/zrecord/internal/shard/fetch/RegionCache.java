package io.zrecord.internal.shard.fetch;

import io.zrecord.read.ReadMetrics;
import java.nio.ByteBuffer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * Keeps regions of files that are not mapped in memory, up to a bound. Evicts the least recently
 * used region, but never one that is being fetched: it holds memory in any case. Several users who
 * ask for one region at a time wait for one request. Thread-safe; no lock is held over a request.
 */
final class RegionCache {
  private static final long MOST_BYTES = 256L << 20;

  private static final RegionCache SHARED =
      new RegionCache(Math.min(MOST_BYTES, Runtime.getRuntime().maxMemory() / 8));

  private static final int FIRST_AHEAD = 2;
  private static final int MOST_AHEAD = 16;

  private final long boundBytes;
  private final Map<Key, Region> regions = new LinkedHashMap<>(16, 0.75f, true);
  private long heldBytes;

  /** Bytes of regions that were asked for and have not come. They are among those held. */
  private long awaitedBytes;

  /**
   * Regions that a reader asks for before it needs them. Starts at what earlier readers needed, so
   * that each new reader need not learn it by waiting.
   */
  private volatile int ahead = FIRST_AHEAD;

  /** A region of a file, of which there is one object. */
  private record Key(Windows file, int ordinal) {}

  /** A region that is there, or was asked for. */
  private static final class Region {
    final int lengthBytes;
    final CompletableFuture<ByteBuffer> content = new CompletableFuture<>();

    Region(int lengthBytes) {
      this.lengthBytes = lengthBytes;
    }
  }

  /**
   * Creates an empty cache.
   *
   * @param boundBytes most bytes of all regions; a single region may be longer
   */
  RegionCache(long boundBytes) {
    this.boundBytes = boundBytes;
  }

  /** Returns the cache of this process. */
  static RegionCache shared() {
    return SHARED;
  }

  /**
   * Returns a region.
   *
   * @param request fetches the region; what it throws, the caller gets
   * @param metrics where hits and waits are counted
   */
  ByteBuffer get(Windows file, int ordinal, Supplier<ByteBuffer> request, ReadMetrics metrics) {
    Key key = new Key(file, ordinal);
    Region own = new Region(file.lengthBytes(ordinal));
    Region region = find(key, own);
    if (region != own && region.content.isDone()) {
      metrics.regionHits.increment();
      return await(region, request);
    }
    long start = System.nanoTime();
    try {
      if (region == own) {
        return fetch(key, own, request);
      }
      ahead = Math.min(2 * ahead, MOST_AHEAD);
      return await(region, request);
    } finally {
      metrics.waitNanos.add(System.nanoTime() - start);
    }
  }

  private static ByteBuffer await(Region region, Supplier<ByteBuffer> request) {
    try {
      return region.content.join();
    } catch (CompletionException e) {
      // Another thread's request failed, or that thread was interrupted.
      return request.get();
    }
  }

  /**
   * Asks for the regions after one, so that a reader in order does not wait for each region. Reads
   * ahead by the current depth, at most a quarter of the cache. Does nothing while half of the
   * cache is being fetched.
   *
   * @param end ordinal after the last region that will be read
   * @param requests fetches a region, given its ordinal
   */
  void readAhead(Windows file, int ordinal, int end, IntFunction<ByteBuffer> requests) {
    long room = Math.max(1, boundBytes / 4 / file.lengthBytes(ordinal));
    int last = (int) Math.min(end - 1L, ordinal + Math.min(ahead, room));
    for (int next = ordinal + 1; next <= last; next++) {
      int wanted = next;
      Key key = new Key(file, next);
      Region own = new Region(file.lengthBytes(next));
      if (!hasRoom(own)) {
        return;
      }
      if (find(key, own) == own && !isAsked(key, own, () -> requests.apply(wanted))) {
        return;
      }
    }
  }

  private synchronized boolean hasRoom(Region region) {
    return awaitedBytes + region.lengthBytes <= boundBytes / 2;
  }

  private boolean isAsked(Key key, Region region, Supplier<ByteBuffer> request) {
    boolean isAsked = false;
    try {
      isAsked = Requests.tryRun(() -> tryFetch(key, region, request));
      return isAsked;
    } finally {
      if (!isAsked) {
        // Also if a thread cannot be started: others may wait for the region.
        giveUp(key, region);
      }
    }
  }

  private void tryFetch(Key key, Region region, Supplier<ByteBuffer> request) {
    try {
      fetch(key, region, request);
    } catch (RuntimeException e) {
      // Whoever needs the region asks again, and meets the error.
    }
  }

  private ByteBuffer fetch(Key key, Region region, Supplier<ByteBuffer> request) {
    try {
      ByteBuffer content = request.get();
      hasCome(region, content);
      return content;
    } finally {
      if (!region.content.isDone()) {
        giveUp(key, region);
      }
    }
  }

  private synchronized void hasCome(Region region, ByteBuffer content) {
    if (region.content.complete(content)) {
      awaitedBytes -= region.lengthBytes;
    }
  }

  private void giveUp(Key key, Region region) {
    remove(key, region);
    region.content.completeExceptionally(new IllegalStateException("The request failed"));
  }

  /** Returns the region that is there, or puts another one. */
  private synchronized Region find(Key key, Region otherwise) {
    Region found = regions.get(key);
    if (found != null) {
      return found;
    }
    regions.put(key, otherwise);
    heldBytes += otherwise.lengthBytes;
    awaitedBytes += otherwise.lengthBytes;
    Iterator<Region> eldest = regions.values().iterator();
    while (heldBytes > boundBytes && eldest.hasNext()) {
      Region dropped = eldest.next();
      if (dropped.content.isDone()) {
        eldest.remove();
        heldBytes -= dropped.lengthBytes;
      }
    }
    return otherwise;
  }

  private synchronized void remove(Key key, Region region) {
    if (regions.remove(key, region)) {
      heldBytes -= region.lengthBytes;
      awaitedBytes -= region.lengthBytes;
    }
  }

  /** Returns the bytes of the regions that are there or asked for. */
  synchronized long heldBytes() {
    return heldBytes;
  }
}
