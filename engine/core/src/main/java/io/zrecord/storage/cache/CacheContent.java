package io.zrecord.storage.cache;

import io.zrecord.errors.MissingFileException;
import io.zrecord.internal.io.CacheFiles;
import io.zrecord.internal.io.LocalCacheFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.storage.StoredFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What a cache has written into a directory. Immutable. The cache may be in use meanwhile.
 *
 * @param tables the locations that blocks are of, in order
 * @param unreadableBlocks number of blocks whose header is damaged
 * @param unreadableBytes length of their files
 * @param unfinishedFiles number of files that are being written, or were when a process died
 * @param unfinishedBytes their length
 */
public record CacheContent(
    List<Table> tables,
    long unreadableBlocks,
    long unreadableBytes,
    long unfinishedFiles,
    long unfinishedBytes) {

  /**
   * The blocks of a location.
   *
   * @param location of the storage, as it was opened
   * @param blocks their number
   * @param bytes length of their files
   * @param oldestUse when the block that was used longest ago was used; up to an hour early
   * @param newestUse when the block that was used last was used; up to an hour early
   */
  public record Table(
      String location, long blocks, long bytes, Instant oldestUse, Instant newestUse) {

    private Table with(Table other) {
      return new Table(
          location,
          blocks + other.blocks,
          bytes + other.bytes,
          oldestUse.isBefore(other.oldestUse) ? oldestUse : other.oldestUse,
          newestUse.isAfter(other.newestUse) ? newestUse : other.newestUse);
    }
  }

  /** A file that a cache wrote. */
  private record Written(StoredFile file, Optional<BlockKey> key) {}

  /** Takes a copy of the list. */
  public CacheContent {
    tables = List.copyOf(tables);
  }

  /**
   * Reads the header of each block in a directory.
   *
   * @throws IllegalArgumentException if there is no such directory
   * @throws io.zrecord.errors.StorageException if the directory cannot be read
   */
  public static CacheContent of(Path directory) {
    return of(written(files(directory)));
  }

  /**
   * Deletes what a cache wrote, and nothing else. Processes that use the cache fill it again.
   * Returns what was deleted.
   *
   * @throws IllegalArgumentException if there is no such directory
   * @throws io.zrecord.errors.StorageException if a file cannot be deleted
   */
  public static CacheContent clear(Path directory) {
    CacheFiles files = files(directory);
    List<Written> written = written(files);
    written.forEach(file -> files.delete(file.file().name()));
    return of(written);
  }

  /** Returns the number of all blocks. */
  public long blocks() {
    return unreadableBlocks + tables.stream().mapToLong(Table::blocks).sum();
  }

  /** Returns the length of all files. */
  public long bytes() {
    return unreadableBytes
        + unfinishedBytes
        + tables.stream().mapToLong(Table::bytes).sum();
  }

  private static CacheFiles files(Path directory) {
    if (!Files.isDirectory(directory)) {
      throw new IllegalArgumentException(
          "There is no directory " + directory + "; check the path of the cache");
    }
    return new LocalCacheFiles(directory);
  }

  private static List<Written> written(CacheFiles files) {
    List<Written> written = new ArrayList<>();
    for (String name : files.names()) {
      if (BlockNames.isBlock(name) || BlockNames.isUnfinished(name)) {
        look(files, name).ifPresent(written::add);
      }
    }
    return written;
  }

  private static Optional<Written> look(CacheFiles files, String name) {
    Optional<StoredFile> found = files.look(name);
    if (found.isEmpty()) {
      return Optional.empty();
    }
    try {
      if (!BlockFormat.isOurs(files, name)) {
        return Optional.empty();
      }
      try (MutableFile file = files.open(name)) {
        return Optional.of(new Written(found.get(), BlockFormat.key(file)));
      }
    } catch (MissingFileException e) {
      return Optional.empty(); // It was evicted meanwhile.
    }
  }

  private static CacheContent of(List<Written> written) {
    Map<String, Table> tables = new TreeMap<>();
    long unreadableBlocks = 0;
    long unreadableBytes = 0;
    long unfinishedFiles = 0;
    long unfinishedBytes = 0;
    for (Written one : written) {
      long bytes = one.file().lengthBytes();
      if (BlockNames.isUnfinished(one.file().name())) {
        unfinishedFiles++;
        unfinishedBytes += bytes;
      } else if (one.key().isEmpty()) {
        unreadableBlocks++;
        unreadableBytes += bytes;
      } else {
        Instant used = Instant.ofEpochMilli(one.file().modifiedMillis());
        Table block = new Table(one.key().get().location(), 1, bytes, used, used);
        tables.merge(block.location(), block, Table::with);
      }
    }
    return new CacheContent(
        List.copyOf(tables.values()),
        unreadableBlocks,
        unreadableBytes,
        unfinishedFiles,
        unfinishedBytes);
  }
}
