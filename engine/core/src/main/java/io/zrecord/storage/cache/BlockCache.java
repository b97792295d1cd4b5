package io.zrecord.storage.cache;

import io.zrecord.internal.io.CacheFiles;
import io.zrecord.internal.io.LocalCacheFiles;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A directory on a local disk with blocks of files that are read over a network, up to a bound.
 * Blocks used longest ago go first. A tenth of the disk stays free, at most 10 GiB. Any number of
 * processes may use a directory. Any process may delete the directory at any time. The cache
 * deletes only files that a cache wrote. Thread-safe.
 *
 * <p>A block is written beside its name and renamed, and is never forced to the disk. Each read
 * verifies its checksums. So a crash, a full disk or a damaged block costs requests, and never
 * gives a wrong byte.
 */
public final class BlockCache {
  /** Smallest bound in bytes. */
  public static final long LEAST_BYTES = 16L << 20;

  private static final Map<Shared, BlockCache> SHARED = new ConcurrentHashMap<>();

  private final String location;
  private final long maxBytes;
  private final CacheCounters counters = new CacheCounters();
  private final BlockFiles blocks;
  private final Map<BlockKey, CompletableFuture<Optional<ByteBuffer>>> requests =
      new ConcurrentHashMap<>();

  /** What makes two caches of a process the same. */
  private record Shared(Path directory, long maxBytes) {}

  BlockCache(CacheFiles files, long maxBytes, InstantSource clock, BlockFormat.Checksum checksum) {
    this.location = files.location();
    this.maxBytes = maxBytes;
    this.blocks = new BlockFiles(files, maxBytes, clock, checksum, counters);
  }

  /**
   * Returns the cache of a directory, the same object for the same arguments. Touches no file; the
   * directory is made at the first write.
   *
   * @param directory need not exist. Use a directory of its own, on a local disk
   * @param maxBytes bound in bytes, at least {@link #LEAST_BYTES}
   * @throws IllegalArgumentException if the bound is less
   */
  public static BlockCache at(Path directory, long maxBytes) {
    if (maxBytes < LEAST_BYTES) {
      throw new IllegalArgumentException("A cache of " + maxBytes + " bytes is too small for "
          + directory + "; give it " + LEAST_BYTES + " bytes or more");
    }
    Path absolute = directory.toAbsolutePath().normalize();
    return SHARED.computeIfAbsent(
        new Shared(absolute, maxBytes),
        shared -> new BlockCache(
            new LocalCacheFiles(absolute), maxBytes, InstantSource.system(), BlockFormat::crc32c));
  }

  /** Returns the directory. */
  public String location() {
    return location;
  }

  /** Returns the bound in bytes. */
  public long maxBytes() {
    return maxBytes;
  }

  /** Returns the counters of this cache in this process. They go on counting. */
  public CacheCounters counters() {
    return counters;
  }

  /** Deletes the blocks of a file, because a reader found that they are wrong. */
  void forget(String storage, String name, long lengthBytes) {
    for (long number = 0; number * BlockKey.BLOCK_BYTES < lengthBytes; number++) {
      blocks.delete(new BlockKey(storage, name, lengthBytes, number));
    }
  }

  BlockFiles blocks() {
    return blocks;
  }

  /** Returns the request that is under way for a block, or makes the given one that request. */
  CompletableFuture<Optional<ByteBuffer>> requestOr(
      BlockKey key, CompletableFuture<Optional<ByteBuffer>> otherwise) {
    CompletableFuture<Optional<ByteBuffer>> before = requests.putIfAbsent(key, otherwise);
    return before == null ? otherwise : before;
  }

  /** Forgets a request, unless another one is under way for the block. */
  void endRequest(BlockKey key, CompletableFuture<Optional<ByteBuffer>> request) {
    requests.remove(key, request);
  }

  @Override
  public String toString() {
    return "cache of " + maxBytes + " bytes in " + location;
  }
}
