package io.zrecord.storage.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.io.CacheFiles;
import io.zrecord.internal.io.LocalCacheFiles;
import io.zrecord.storage.ReadableFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is deleted, when, and what never is. */
final class EvictionTest {
  private static final int BLOCK = BlockKey.BLOCK_BYTES;
  private static final long MAX_BYTES = 16L << 20;
  private static final String NAME = "chunk.zr";
  private static final String FOREIGN_BLOCK = "zr-00000000000000000000000000000000.block";

  @TempDir
  Path directory;

  private final MadeUpStorage far = new MadeUpStorage();
  private final AtomicLong now = new AtomicLong(System.currentTimeMillis());
  private final InstantSource clock = () -> Instant.ofEpochMilli(now.incrementAndGet());

  private BlockCache cache() {
    return TestCaches.of(TestCaches.roomy(directory), MAX_BYTES, clock);
  }

  private ReadableFile open(BlockCache cache) {
    return CachedStorage.of(far, cache).open(NAME, 1000L * BLOCK);
  }

  private void read(BlockCache cache, int from, int to) {
    for (int block = from; block < to; block++) {
      long position = (long) block * BLOCK;
      assertThat(MadeUpStorage.isRight(NAME, position, open(cache).region(position, 1000)))
          .isTrue();
    }
  }

  private boolean isCached(BlockCache cache, int block) {
    long misses = cache.counters().misses();
    open(cache).region((long) block * BLOCK, 1);
    return cache.counters().misses() == misses;
  }

  @Test
  void theDirectoryNeverHasMoreThanTheBound() throws IOException {
    BlockCache cache = cache();
    for (int block = 0; block < 50; block++) {
      read(cache, block, block + 1);
      assertThat(TestCaches.bytes(directory)).isLessThanOrEqualTo(MAX_BYTES);
    }
    assertThat(TestCaches.bytes(directory)).isGreaterThan(MAX_BYTES / 8 * 6);
    assertThat(cache.counters().evictions()).isPositive();
    assertThat(cache.counters().failures()).isZero();
  }

  @Test
  void blocksUsedLongestAgoGoFirst() {
    BlockCache cache = cache();
    read(cache, 0, 15);
    read(cache, 0, 3);
    read(cache, 20, 26);
    assertThat(isCached(cache, 0)).isTrue();
    assertThat(isCached(cache, 2)).isTrue();
    assertThat(isCached(cache, 3)).isFalse();
  }

  @Test
  void timesOfUseOutliveTheProcess() throws IOException {
    read(cache(), 0, 15);
    for (Path block : TestCaches.blocks(directory)) {
      Files.setLastModifiedTime(block, FileTime.fromMillis(now.get() - 86_400_000));
    }
    BlockCache second = cache();
    read(second, 0, 3);
    BlockCache third = cache();
    read(third, 20, 26);
    assertThat(isCached(third, 0)).isTrue();
    assertThat(isCached(third, 2)).isTrue();
    assertThat(third.counters().evictions()).isPositive();
  }

  @Test
  void whatAnotherProcessUsesStays() throws IOException {
    BlockCache cache = cache();
    read(cache, 0, 15);
    now.addAndGet(7_200_000);
    // The other process notes its use in the times of the files, which this process looks at.
    read(TestCaches.of(TestCaches.roomy(directory), MAX_BYTES, clock), 0, 3);
    read(cache, 20, 26);
    assertThat(isCached(cache, 0)).isTrue();
    assertThat(isCached(cache, 2)).isTrue();
  }

  @Test
  void blocksOfAnEarlierProcessCount() throws IOException {
    read(cache(), 0, 15);
    read(cache(), 100, 115);
    assertThat(TestCaches.bytes(directory)).isLessThanOrEqualTo(MAX_BYTES);
  }

  @Test
  void upToEightProcessesKeepTheBoundTogether() throws IOException {
    List<BlockCache> caches = List.of(cache(), cache(), cache(), cache());
    for (int block = 0; block < 60; block++) {
      read(caches.get(block % 4), block, block + 1);
      assertThat(TestCaches.bytes(directory)).isLessThanOrEqualTo(MAX_BYTES);
    }
  }

  @Test
  void foreignFilesAreNeitherCountedNorDeleted() throws IOException {
    List<String> names = List.of(
        FOREIGN_BLOCK,
        "zr-0000000000000000000000000000000.block",
        "notes.txt",
        ".zr-00000000000000000000000000000000.block.9f0c2b9e-6a50-4d0c-a8b1-6c8f7f0e2c11.tmp",
        "model.block");
    for (String name : names) {
      Files.write(
          directory.resolve(name), new byte[] {'m', 'y', ' ', 'd', 'a', 't', 'a', '.', '.'});
      Files.setLastModifiedTime(directory.resolve(name), FileTime.fromMillis(1));
    }
    Path below = Files.createDirectories(directory.resolve(FOREIGN_BLOCK.replace('0', '1')));
    Files.createFile(below.resolve("file"));
    Path link = directory.resolve(FOREIGN_BLOCK.replace('0', '2'));
    Files.createSymbolicLink(link, directory.resolve("notes.txt"));
    BlockCache cache = cache();
    read(cache, 0, 60);
    assertThat(cache.counters().evictions()).isPositive();
    CacheContent cleared = CacheContent.clear(directory);
    assertThat(cleared.blocks()).isBetween(12L, 16L);
    for (String name : names) {
      assertThat(directory.resolve(name)).hasContent("my data..");
    }
    assertThat(below.resolve("file")).exists();
    assertThat(link).isSymbolicLink();
    assertThat(CacheContent.of(directory).bytes()).isZero();
  }

  @Test
  void whatDeadProcessesLeftIsDeleted() throws IOException {
    String suffix = ".9f0c2b9e-6a50-4d0c-a8b1-6c8f7f0e2c11.tmp";
    read(cache(), 0, 1);
    byte[] block = Files.readAllBytes(TestCaches.blocks(directory).get(0));
    Path dead = directory.resolve("." + FOREIGN_BLOCK + suffix);
    Path empty = directory.resolve("." + FOREIGN_BLOCK.replace('0', '1') + suffix);
    Path young = directory.resolve("." + FOREIGN_BLOCK.replace('0', '2') + suffix);
    Files.write(dead, java.util.Arrays.copyOf(block, 1000));
    Files.write(empty, new byte[0]);
    Files.write(young, block);
    for (Path file : List.of(dead, empty)) {
      Files.setLastModifiedTime(file, FileTime.fromMillis(now.get() - 700_000));
    }
    read(cache(), 5, 6);
    assertThat(dead).doesNotExist();
    assertThat(empty).doesNotExist();
    assertThat(young).exists();
  }

  @Test
  void blocksThatAPowerLossLeftEmptyAreDeleted() throws IOException {
    read(cache(), 0, 15);
    Path zeros = TestCaches.blocks(directory).get(0);
    Files.write(zeros, new byte[BLOCK]);
    Files.setLastModifiedTime(zeros, FileTime.fromMillis(1));
    read(cache(), 100, 110);
    assertThat(zeros).doesNotExist();
  }

  @Test
  void ofALargeDiskTenGibStayFree() throws IOException {
    AtomicLong usable = new AtomicLong((10L << 30) + (64L << 20));
    CacheFiles large = new ForwardingCacheFiles(new LocalCacheFiles(directory)) {
      @Override
      public Space space() {
        return new Space(usable.get(), 1L << 40);
      }
    };
    BlockCache cache = TestCaches.of(large, 1L << 30, clock);
    read(cache, 0, 1);
    assertThat(TestCaches.blocks(directory)).hasSize(1);
    usable.set(9L << 30);
    read(cache, 1, 2);
    assertThat(TestCaches.blocks(directory)).isEmpty();
    assertThat(cache.counters().failures()).isEqualTo(1);
  }

  @Test
  void aTenthOfTheDiskStaysFree() throws IOException {
    AtomicLong usable = new AtomicLong(112L << 20);
    CacheFiles small = new ForwardingCacheFiles(new LocalCacheFiles(directory)) {
      @Override
      public Space space() {
        return new Space(usable.get(), 1000L << 20);
      }

      @Override
      public void write(String name, byte[] content) {
        super.write(name, content);
        usable.addAndGet(-content.length);
      }

      @Override
      public void delete(String name) {
        usable.addAndGet(files.look(name).orElseThrow().lengthBytes());
        super.delete(name);
      }
    };
    BlockCache cache = TestCaches.of(small, 1L << 30, clock);
    read(cache, 0, 40);
    assertThat(usable.get()).isGreaterThanOrEqualTo(100L << 20);
    assertThat(TestCaches.blocks(directory)).hasSize(11);
    assertThat(cache.counters().failures()).isZero();
    // Somebody else fills the disk: the cache makes room until nothing of it is left.
    usable.set(50L << 20);
    read(cache, 50, 52);
    assertThat(TestCaches.blocks(directory)).isEmpty();
    assertThat(cache.counters().failures()).isEqualTo(2);
    usable.set(500L << 20);
    read(cache, 60, 61);
    assertThat(TestCaches.blocks(directory)).hasSize(1);
  }
}
