package io.zrecord.sharing;

import io.zrecord.feed.BatchMemory;
import java.nio.ByteBuffer;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Hands out regions of a shared file. The file grows if no free region is large enough. Free
 * neighbours are joined. Regions begin at pages. Thread-safe.
 */
final class SharedArena implements BatchMemory {
  private static final long PAGE_BYTES = 4096;

  private final SharedFile file;
  private final IdentityHashMap<ByteBuffer, Long> places = new IdentityHashMap<>();
  private final TreeMap<Long, Long> freeLengths = new TreeMap<>();
  private long lengthBytes;

  SharedArena(SharedFile file) {
    this.file = file;
  }

  @Override
  public synchronized ByteBuffer allocate(int bytes) {
    long at = take(paged(bytes));
    ByteBuffer region = file.map(at, bytes);
    places.put(region, at);
    return region;
  }

  @Override
  public synchronized void free(ByteBuffer allocated) {
    Long at = places.remove(allocated);
    if (at == null) {
      throw new IllegalArgumentException("A buffer was freed that is not of this arena");
    }
    long from = at;
    long to = at + paged(allocated.capacity());
    Map.Entry<Long, Long> before = freeLengths.lowerEntry(from);
    if (before != null && before.getKey() + before.getValue() == from) {
      from = before.getKey();
    }
    Long after = freeLengths.remove(to);
    freeLengths.put(from, to - from + (after == null ? 0 : after));
  }

  /**
   * Returns the position of a region in the file; 0 for an empty buffer, which was never allocated.
   */
  synchronized long at(ByteBuffer allocated) {
    Long at = places.get(allocated);
    return at == null ? 0 : at;
  }

  /** Returns the length of the file in bytes. Every region is below. */
  synchronized long lengthBytes() {
    return lengthBytes;
  }

  private long take(long bytes) {
    Optional<Map.Entry<Long, Long>> free =
        freeLengths.entrySet().stream().filter(room -> room.getValue() >= bytes).findFirst();
    if (free.isEmpty()) {
      long at = file.grow(bytes);
      lengthBytes = at + bytes;
      return at;
    }
    long at = free.get().getKey();
    long left = free.get().getValue() - bytes;
    freeLengths.remove(at);
    if (left > 0) {
      freeLengths.put(at + bytes, left);
    }
    return at;
  }

  private static long paged(long bytes) {
    return Math.max(1, (bytes + PAGE_BYTES - 1) / PAGE_BYTES) * PAGE_BYTES;
  }
}
