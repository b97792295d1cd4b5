package io.zrecord.storage.cache;

import io.zrecord.storage.ReadableFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;

/**
 * A process that reads random regions through a cache, and ends with an error at the first wrong
 * byte. Arguments: directory, bound of the cache, seed, number of reads. It ends before if its
 * standard input has a byte.
 */
final class CacheReader {
  static final String NAME = "shard/a/a.zr";
  static final long LENGTH = 24L * BlockKey.BLOCK_BYTES + 777;

  private CacheReader() {}

  public static void main(String[] args) throws IOException {
    BlockCache cache = TestCaches.at(Path.of(args[0]), Long.parseLong(args[1]));
    Random random = new Random(Long.parseLong(args[2]));
    ReadableFile file = CachedStorage.of(new MadeUpStorage(), cache).open(NAME, LENGTH);
    System.out.println("begun");
    for (int i = 0; i < Integer.parseInt(args[3]) && System.in.available() == 0; i++) {
      readAnywhere(file, random);
    }
    System.out.println(cache.counters());
  }

  /** Reads a region, of at most 3 MiB. */
  static void readAnywhere(ReadableFile file, Random random) {
    int length = random.nextInt(random.nextInt(3 * BlockKey.BLOCK_BYTES) + 1);
    long position = random.nextLong(LENGTH - length + 1);
    long wrong = MadeUpStorage.wrongAt(NAME, position, file.region(position, length));
    if (wrong >= 0) {
      throw new AssertionError("Wrong byte at " + wrong);
    }
  }

  /** Reads everything. Returns how many blocks came from the cache. */
  static long readAll(BlockCache cache) {
    long hits = cache.counters().hits();
    ReadableFile file = CachedStorage.of(new MadeUpStorage(), cache).open(NAME, LENGTH);
    long wrong = MadeUpStorage.wrongAt(NAME, 0, file.region(0, (int) LENGTH));
    if (wrong >= 0) {
      throw new AssertionError("Wrong byte at " + wrong);
    }
    return cache.counters().hits() - hits;
  }
}
