package io.zrecord.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;

/** Leaves out tests of a cache of blocks where the disk is so full that a cache keeps nothing. */
public final class CacheRoom {
  /** More than the tests of a machine write at once. */
  private static final long SPARE_BYTES = 1L << 30;

  private static final long MOST_RESERVED_BYTES = 10L << 30;

  private CacheRoom() {}

  /**
   * Assumes that a cache keeps what it is given.
   *
   * @param directory exists, on the disk of the cache
   */
  public static void assumeIn(Path directory) throws IOException {
    FileStore disk = Files.getFileStore(directory);
    long reserved = Math.min(disk.getTotalSpace() / 10, MOST_RESERVED_BYTES);
    long usable = disk.getUsableSpace();
    assumeTrue(
        usable >= reserved + SPARE_BYTES,
        () -> "A cache in " + directory + " leaves " + reserved + " bytes of the disk free, and "
            + usable + " are");
  }
}
