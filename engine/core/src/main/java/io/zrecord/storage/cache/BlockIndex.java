package io.zrecord.storage.cache;

import io.zrecord.internal.io.CacheFiles;
import io.zrecord.internal.io.CacheFiles.Space;
import io.zrecord.storage.StoredFile;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Knows the blocks of a directory, and deletes those used longest ago. Times of use are in memory,
 * and in the times of the files once an hour, for other processes and the time after a restart.
 * Thread-safe. The lock is held over operations of the local disk only, and never by a hit.
 *
 * <p>Other processes write blocks, too. The directory is listed again after each 64th of the bound
 * that this process wrote. So each further process may add a 64th of the bound and a block, before
 * another process knows of it. An eviction goes down to 7/8 of the bound.
 */
final class BlockIndex {
  private static final long TOUCH_MILLIS = 3_600_000;

  /** Age at which an unfinished file belongs to a process that died. */
  private static final long DEAD_MILLIS = 600_000;

  /** The time of a file may be this much later than that of its use. */
  private static final long WRITE_MILLIS = 60_000;

  private static final int SCAN_PART = 64;
  private static final int RESERVED_PART = 10;

  /** A tenth of a large disk would be more than what others of the machine need. */
  private static final long MOST_RESERVED_BYTES = 10L << 30;

  private final CacheFiles files;
  private final long maxBytes;
  private final InstantSource clock;
  private final CacheCounters counters;
  private final Map<String, Entry> entries = new ConcurrentHashMap<>();
  private final AtomicLong heldBytes = new AtomicLong();
  private final Set<String> foreign = new HashSet<>();
  private long writtenBytes = Long.MAX_VALUE;

  /** A block. */
  private static final class Entry {
    final long bytes;
    volatile long usedMillis;
    volatile long touchedMillis;
    volatile boolean isWritten;

    Entry(long bytes, long usedMillis, long touchedMillis, boolean isWritten) {
      this.bytes = bytes;
      this.usedMillis = usedMillis;
      this.touchedMillis = touchedMillis;
      this.isWritten = isWritten;
    }
  }

  /** A block that may be deleted, with the time that decides. */
  private record Candidate(String name, Entry entry, long usedMillis) {}

  BlockIndex(CacheFiles files, long maxBytes, InstantSource clock, CacheCounters counters) {
    this.files = files;
    this.maxBytes = maxBytes;
    this.clock = clock;
    this.counters = counters;
  }

  /** Notes that a block was read. */
  void used(String name, long bytes) {
    long now = clock.millis();
    Entry entry = entries.get(name);
    if (entry == null) {
      entry = new Entry(bytes, now, 0, true);
      put(name, entry);
    }
    entry.usedMillis = now;
    if (now - entry.touchedMillis > TOUCH_MILLIS) {
      entry.touchedMillis = now;
      files.setModified(name, now);
    }
  }

  /**
   * Makes room for a block that is about to be written.
   *
   * @return whether there is room within the bound, and a tenth of the disk, at most 10 GiB, stays
   *     free
   */
  synchronized boolean reserve(String name, long bytes) {
    if (writtenBytes > maxBytes / SCAN_PART) {
      scan();
      writtenBytes = 0;
    }
    Space space = files.space();
    long reserved = Math.min(space.totalBytes() / RESERVED_PART, MOST_RESERVED_BYTES);
    long missing = bytes + reserved - space.usableBytes();
    if (heldBytes.get() + bytes > maxBytes || missing > 0) {
      long target = heldBytes.get() + bytes > maxBytes ? maxBytes / 8 * 7 - bytes : maxBytes;
      // Sorting all blocks for each block would take longer than fetching the block.
      long toDelete = missing > 0 ? Math.max(missing, heldBytes.get() / SCAN_PART) : 0;
      long deleted = evict(target, toDelete);
      if (deleted < missing || heldBytes.get() + bytes > maxBytes) {
        return false;
      }
    }
    long now = clock.millis();
    put(name, new Entry(bytes, now, now, false));
    writtenBytes += bytes;
    return true;
  }

  /** Notes that a block for which room was made is there. */
  void written(String name) {
    Entry entry = entries.get(name);
    if (entry != null) {
      entry.isWritten = true;
    }
  }

  /** Notes that a block is gone, or could not be written. */
  void removed(String name) {
    Entry entry = entries.remove(name);
    if (entry != null) {
      heldBytes.addAndGet(-entry.bytes);
    }
  }

  /** Returns the bytes of all blocks that are known. */
  long heldBytes() {
    return heldBytes.get();
  }

  private void put(String name, Entry entry) {
    Entry before = entries.put(name, entry);
    heldBytes.addAndGet(entry.bytes - (before == null ? 0 : before.bytes));
  }

  private void scan() {
    Set<String> found = new HashSet<>();
    for (String name : files.names()) {
      if (BlockNames.isBlock(name)) {
        found.add(name);
        if (!entries.containsKey(name) && !foreign.contains(name)) {
          files.look(name).ifPresent(this::add);
        }
      } else if (BlockNames.isUnfinished(name)) {
        deleteDead(name);
      }
    }
    for (Map.Entry<String, Entry> known : entries.entrySet()) {
      // A block may have been written after the directory was listed.
      if (!found.contains(known.getKey())
          && known.getValue().isWritten
          && files.look(known.getKey()).isEmpty()) {
        removed(known.getKey());
      }
    }
  }

  private void add(StoredFile file) {
    long modified = Math.min(file.modifiedMillis(), clock.millis());
    Entry entry = new Entry(file.lengthBytes(), modified, modified, true);
    if (entries.putIfAbsent(file.name(), entry) == null) {
      heldBytes.addAndGet(entry.bytes);
    }
  }

  private void deleteDead(String name) {
    Optional<StoredFile> file = files.look(name);
    if (file.isPresent()
        && file.get().modifiedMillis() < clock.millis() - DEAD_MILLIS
        && BlockFormat.isOurs(files, name)) {
      files.delete(name);
    }
  }

  /**
   * Deletes the blocks used longest ago, until no more than {@code targetBytes} are held and
   * {@code toDelete} bytes were deleted. Returns the bytes that were deleted.
   */
  private long evict(long targetBytes, long toDelete) {
    long deleted = 0;
    // A block that another process used is younger than this process knew, and comes again later.
    for (int round = 0; round < 2; round++) {
      for (Candidate candidate : candidates()) {
        if (heldBytes.get() <= targetBytes && deleted >= toDelete) {
          return deleted;
        }
        deleted += evict(candidate);
      }
    }
    return deleted;
  }

  private List<Candidate> candidates() {
    List<Candidate> candidates = new ArrayList<>();
    entries.forEach((name, entry) -> {
      if (entry.isWritten) {
        candidates.add(new Candidate(name, entry, entry.usedMillis));
      }
    });
    candidates.sort(Comparator.comparingLong(Candidate::usedMillis));
    return candidates;
  }

  private long evict(Candidate candidate) {
    String name = candidate.name();
    Entry entry = candidate.entry();
    Optional<StoredFile> file = files.look(name);
    if (file.isEmpty()) {
      removed(name);
      return 0;
    }
    long modified = Math.min(file.get().modifiedMillis(), clock.millis());
    if (entry.usedMillis > candidate.usedMillis()) {
      return 0;
    }
    if (modified > entry.usedMillis + WRITE_MILLIS) {
      entry.usedMillis = modified;
      entry.touchedMillis = modified;
      return 0;
    }
    if (!BlockFormat.isOurs(files, name)) {
      if (files.look(name).isPresent()) {
        foreign.add(name);
      }
      removed(name);
      return 0;
    }
    files.delete(name);
    removed(name);
    counters.addEviction();
    return entry.bytes;
  }
}
