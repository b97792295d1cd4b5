package io.zrecord.storage.cache;

import io.zrecord.internal.io.CacheFiles;
import io.zrecord.internal.io.LocalCacheFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.stream.Stream;

/** Caches that tests use. The fill of the machine's disk does not matter to them. */
final class TestCaches {
  private TestCaches() {}

  static BlockCache at(Path directory, long maxBytes) {
    return of(roomy(directory), maxBytes, InstantSource.system());
  }

  static BlockCache of(CacheFiles files, long maxBytes, InstantSource clock) {
    return new BlockCache(files, maxBytes, clock, BlockFormat::crc32c);
  }

  /** A cache that takes each block for undamaged. */
  static BlockCache unchecked(Path directory, long maxBytes) {
    return new BlockCache(
        roomy(directory), maxBytes, InstantSource.system(), (bytes, offset, length) -> 0);
  }

  static CacheFiles roomy(Path directory) {
    return new ForwardingCacheFiles(new LocalCacheFiles(directory)) {
      @Override
      public Space space() {
        return new Space(1L << 40, 1L << 40);
      }
    };
  }

  /** The files of blocks, in the order of their names. */
  static List<Path> blocks(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> BlockNames.isBlock(file.getFileName().toString()))
          .sorted()
          .toList();
    } catch (NoSuchFileException e) {
      return List.of();
    }
  }

  static long bytes(Path directory) throws IOException {
    long bytes = 0;
    for (Path block : blocks(directory)) {
      bytes += Files.size(block);
    }
    return bytes;
  }
}
