package io.zrecord.storage.cache;

import java.util.concurrent.atomic.LongAdder;

/** Counts what a cache did since the process began to use it. Thread-safe. */
public final class CacheCounters {
  private final LongAdder hits = new LongAdder();
  private final LongAdder misses = new LongAdder();
  private final LongAdder waits = new LongAdder();
  private final LongAdder cacheBytes = new LongAdder();
  private final LongAdder storageBytes = new LongAdder();
  private final LongAdder requests = new LongAdder();
  private final LongAdder evictions = new LongAdder();
  private final LongAdder failures = new LongAdder();

  CacheCounters() {}

  /** Returns how often a block was read from the cache. */
  public long hits() {
    return hits.sum();
  }

  /** Returns how often a block was fetched from the storage. */
  public long misses() {
    return misses.sum();
  }

  /** Returns how often a reader took a block from the request of another reader. */
  public long waits() {
    return waits.sum();
  }

  /** Returns the bytes of regions that came from the cache. */
  public long bytesFromCache() {
    return cacheBytes.sum();
  }

  /** Returns the bytes of all requests of storages. */
  public long bytesFromStorage() {
    return storageBytes.sum();
  }

  /** Returns the number of requests of storages. */
  public long requests() {
    return requests.sum();
  }

  /** Returns the number of blocks that were deleted to make room. */
  public long evictions() {
    return evictions.sum();
  }

  /** Returns the number of damaged blocks and of failed operations of the local disk. */
  public long failures() {
    return failures.sum();
  }

  void addHit(int bytes) {
    hits.increment();
    cacheBytes.add(bytes);
  }

  void addWait() {
    waits.increment();
  }

  void addRequest(int blocks, int bytes) {
    requests.increment();
    misses.add(blocks);
    storageBytes.add(bytes);
  }

  void addEviction() {
    evictions.increment();
  }

  void addFailure() {
    failures.increment();
  }

  @Override
  public String toString() {
    return hits() + " hits of " + bytesFromCache() + " bytes, " + misses() + " misses with "
        + requests() + " requests of " + bytesFromStorage() + " bytes, " + waits() + " waits, "
        + evictions() + " evictions, " + failures() + " failures";
  }
}
