package io.zrecord.storage.cache;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.StorageException;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.cache.MadeUpStorage.Request;
import io.zrecord.testing.Budget;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is asked of the storage, and what readers get. */
final class BlockCacheTest {
  private static final int BLOCK = BlockKey.BLOCK_BYTES;
  private static final String NAME = "shard/9f0c/9f0c.zr";
  private static final long LENGTH = 20L * BLOCK + 12_345;

  @TempDir
  Path directory;

  private final MadeUpStorage far = new MadeUpStorage();

  private ReadableFile open(BlockCache cache) {
    return CachedStorage.of(far, cache).open(NAME, LENGTH);
  }

  private ReadableFile open() {
    return open(TestCaches.at(directory, 64L << 20));
  }

  private static void read(ReadableFile file, long position, int lengthBytes) {
    ByteBuffer region = file.region(position, lengthBytes);
    assertThat(region.remaining()).isEqualTo(lengthBytes);
    assertThat(MadeUpStorage.wrongAt(NAME, position, region)).isNegative();
  }

  @Test
  void aBlockIsFetchedOnceAndReadByTheNextProcess() {
    read(open(), 5, 100);
    assertThat(far.requests()).containsExactly(new Request(NAME, 0, BLOCK));
    BlockCache restarted = TestCaches.at(directory, 64L << 20);
    ReadableFile file = open(restarted);
    read(file, 0, BLOCK);
    read(file, 70_000, 1);
    read(file, BLOCK - 1, 1);
    assertThat(far.requests()).hasSize(1);
    assertThat(restarted.counters().hits()).isEqualTo(3);
    assertThat(restarted.counters().bytesFromCache()).isEqualTo(BLOCK + 2);
    assertThat(restarted.counters().misses()).isZero();
    assertThat(restarted.counters())
        .hasToString(
            "3 hits of 1048578 bytes, 0 misses with 0 requests of 0 bytes, 0 waits, 0 evictions, 0"
                + " failures");
  }

  @Test
  void neighbouringBlocksAreOneRequest() {
    BlockCache cache = TestCaches.at(directory, 64L << 20);
    ReadableFile file = open(cache);
    read(file, BLOCK + 10, 5 * BLOCK);
    assertThat(far.requests()).containsExactly(new Request(NAME, BLOCK, 6 * BLOCK));
    far.requests().clear();
    read(file, 0, 10 * BLOCK);
    assertThat(far.requests())
        .as("what is before and after the blocks that are there")
        .containsExactly(new Request(NAME, 0, BLOCK), new Request(NAME, 7 * BLOCK, 3 * BLOCK));
    assertThat(cache.counters().requests()).isEqualTo(3);
    assertThat(cache.counters().misses()).isEqualTo(10);
    assertThat(cache.counters().bytesFromStorage()).isEqualTo(10L * BLOCK);
  }

  @Test
  void theLastBlockIsShort() {
    ReadableFile file = open();
    read(file, LENGTH - 10, 10);
    assertThat(far.requests()).containsExactly(new Request(NAME, 20L * BLOCK, 12_345));
    read(open(), LENGTH - 12_345, 12_345);
    assertThat(far.requests()).hasSize(1);
  }

  @Test
  void anyRegionsAreRight() {
    Random random = Budget.random();
    ReadableFile file = open();
    for (int i = 0; i < Budget.of(300); i++) {
      int length = random.nextInt(random.nextInt(3 * BLOCK) + 1);
      long position = random.nextLong(LENGTH - length + 1);
      long wrong = MadeUpStorage.wrongAt(NAME, position, file.region(position, length));
      assertThat(wrong).as("region %s", i).isNegative();
    }
    assertThat(far.requests().size()).isLessThanOrEqualTo(21);
  }

  @Test
  void regionsAreReadOnlyLittleEndianAndWithinTheFile() {
    ReadableFile file = open();
    assertThat(file.region(0, 8).isReadOnly()).isTrue();
    assertThat(file.region(0, 8).order()).isEqualTo(ByteOrder.LITTLE_ENDIAN);
    assertThat(file.region(LENGTH, 0).remaining()).isZero();
    assertThat(file.isMapped()).isFalse();
    assertThat(file.preferredRegionBytes()).isEqualTo(1 << 22);
    assertThatThrownBy(() -> file.region(LENGTH - 3, 4))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(NAME);
  }

  @Test
  void filesOfOtherNamesPlacesAndLengthsAreOthers() throws IOException {
    BlockCache cache = TestCaches.at(directory, 64L << 20);
    CachedStorage.of(far, cache).open("a", 100).region(0, 100);
    CachedStorage.of(far, cache).open("b", 100).region(0, 100);
    CachedStorage.of(far, cache).open("a", 101).region(0, 100);
    CachedStorage.of(new MadeUpStorage("far://elsewhere"), cache).open("a", 100).region(0, 100);
    CachedStorage.of(new MadeUpStorage("far://bucket/train"), cache)
        .open("a", 100)
        .region(0, 100);
    assertThat(cache.counters().misses()).isEqualTo(4);
    assertThat(cache.counters().hits()).isEqualTo(1);
    assertThat(TestCaches.blocks(directory)).hasSize(4);
  }

  @Test
  void readersOfABlockWaitForOneRequest() throws Exception {
    BlockCache cache = TestCaches.at(directory, 64L << 20);
    CountDownLatch answer = new CountDownLatch(1);
    CountDownLatch asked = new CountDownLatch(1);
    far.beforeAnswer(() -> {
      asked.countDown();
      await(answer);
    });
    List<Thread> readers = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    readers.add(start(() -> read(open(cache), 0, BLOCK), failures));
    await(asked);
    for (int i = 0; i < 3; i++) {
      readers.add(start(() -> read(open(cache), 100, 2_000), failures));
    }
    for (Thread reader : readers.subList(1, 4)) {
      awaitWaiting(reader);
    }
    assertThat(far.requests()).hasSize(1);
    answer.countDown();
    for (Thread reader : readers) {
      reader.join();
    }
    assertThat(failures).isEmpty();
    assertThat(far.requests()).hasSize(1);
    assertThat(cache.counters().waits()).isEqualTo(3);
  }

  @Test
  void aHitDoesNotWaitForARequest() {
    BlockCache cache = TestCaches.at(directory, 64L << 20);
    ReadableFile file = open(cache);
    read(file, 0, 10);
    // The request of another block reads the first block before its answer.
    far.beforeAnswer(() -> read(file, 0, 10));
    read(file, BLOCK, 10);
    assertThat(cache.counters().hits()).isEqualTo(1);
  }

  @Test
  void whoeverWaitedForARequestThatFailedAsksForHimself() throws Exception {
    BlockCache cache = TestCaches.at(directory, 64L << 20);
    CountDownLatch answer = new CountDownLatch(1);
    CountDownLatch asked = new CountDownLatch(1);
    far.beforeAnswer(() -> {
      asked.countDown();
      await(answer);
    });
    far.breakDown(true);
    List<Throwable> firstFailures = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    Thread first = start(
        () -> {
          try {
            read(open(cache), 0, BLOCK);
          } finally {
            far.breakDown(false);
          }
        },
        firstFailures);
    await(asked);
    Thread second = start(() -> read(open(cache), 0, BLOCK), failures);
    awaitWaiting(second);
    // The second request is answered after the storage works again.
    far.beforeAnswer(() -> join(first));
    answer.countDown();
    second.join();
    assertThat(firstFailures).singleElement().isInstanceOf(StorageException.class);
    assertThat(failures).isEmpty();
    read(open(cache), 0, BLOCK);
    assertThat(far.requests()).hasSize(2);
  }

  @Test
  void threadsThatReadEverywhereGetTheBytesOfTheStorage() throws Exception {
    // Smaller than the file, so that blocks are deleted all the time.
    BlockCache cache = TestCaches.at(directory, BlockCache.LEAST_BYTES);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<?>> readers = new ArrayList<>();
      for (int thread = 0; thread < 4; thread++) {
        Random random = new Random(Budget.seed() + thread);
        readers.add(threads.submit(() -> {
          for (int i = 0; i < Budget.of(100); i++) {
            int length = random.nextInt(3 * BLOCK);
            read(open(cache), random.nextLong(LENGTH - length), length);
          }
        }));
      }
      for (Future<?> reader : readers) {
        reader.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(cache.counters().evictions()).isPositive();
    assertThat(cache.counters().failures()).isZero();
    assertThat(TestCaches.bytes(directory)).isLessThanOrEqualTo(BlockCache.LEAST_BYTES);
    assertThat(cache.blocks().heldBytes()).isEqualTo(TestCaches.bytes(directory));
  }

  @Test
  void aDirectoryAndABoundAreOneCacheOfTheProcess() throws IOException {
    BlockCache cache = BlockCache.at(directory, 1L << 30);
    assertThat(BlockCache.at(directory.resolve("."), 1L << 30)).isSameAs(cache);
    assertThat(cache.maxBytes()).isEqualTo(1L << 30);
    assertThat(cache.location()).isEqualTo(directory.toString());
    assertThatThrownBy(() -> BlockCache.at(directory, 1000))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("16777216");
    Files.delete(directory);
    assertThat(BlockCache.at(directory, 2L << 30).counters().hits()).isZero();
    Files.createDirectory(directory);
  }

  private static Thread start(Runnable task, List<Throwable> failures) {
    Thread thread = new Thread(() -> {
      try {
        task.run();
      } catch (Throwable e) {
        failures.add(e);
      }
    });
    thread.start();
    return thread;
  }

  /** Waits until a thread waits for another one. */
  private static void awaitWaiting(Thread thread) {
    while (thread.getState() != Thread.State.WAITING) {
      assertThat(thread.isAlive()).isTrue();
      Thread.onSpinWait();
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
