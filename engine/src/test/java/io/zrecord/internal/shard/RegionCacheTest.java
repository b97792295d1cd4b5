package io.zrecord.internal.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.StorageException;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.ShardWriter;
import io.zrecord.testing.UnmappedStorage;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RegionCacheTest {
  private static final int LENGTH = 1 << 12;

  @TempDir
  Path directory;

  private Windows file() {
    return new Windows(new UnmappedFileOfZeros(1 << 20, LENGTH), 1 << 20, kept -> {});
  }

  /** Stands for a file; its regions are not asked for. */
  private record UnmappedFileOfZeros(long lengthBytes, int preferredRegionBytes)
      implements ReadableFile {
    @Override
    public String path() {
      return "zeros";
    }

    @Override
    public ByteBuffer region(long position, int lengthBytes) {
      return ByteBuffer.allocate(lengthBytes);
    }

    @Override
    public boolean isMapped() {
      return false;
    }

    @Override
    public void close() {}
  }

  private static ByteBuffer get(
      RegionCache cache, Windows file, int ordinal, Supplier<ByteBuffer> request) {
    return cache.get(file, ordinal, request, new ReadMetrics());
  }

  @Test
  void whatWasUsedLongestAgoGoesFirst() {
    RegionCache cache = new RegionCache(3 * LENGTH);
    Windows file = file();
    AtomicInteger requests = new AtomicInteger();
    for (int ordinal : new int[] {0, 1, 2, 0, 3, 0, 2, 3, 1}) {
      ByteBuffer region = get(cache, file, ordinal, () -> {
        requests.incrementAndGet();
        return ByteBuffer.allocate(4).putInt(0, ordinal);
      });
      assertThat(region.getInt(0)).isEqualTo(ordinal);
      assertThat(cache.heldBytes()).isLessThanOrEqualTo(3 * LENGTH);
    }
    assertThat(requests).as("0 to 3, and 1 once more").hasValue(5);
  }

  @Test
  void readingAheadLeavesHalfOfTheCacheToThoseWhoWait() throws Exception {
    RegionCache cache = new RegionCache(8 * LENGTH);
    CountDownLatch isAllowed = new CountDownLatch(1);
    AtomicInteger requests = new AtomicInteger();
    List<Windows> files = List.of(file(), file(), file());
    for (Windows file : files) {
      cache.readAhead(file, 0, 100, ordinal -> {
        requests.incrementAndGet();
        await(isAllowed);
        return ByteBuffer.allocate(LENGTH);
      });
    }
    assertThat(cache.heldBytes()).as("two regions of two files").isEqualTo(4 * LENGTH);
    // What is under way is not forgotten, however much is asked for meanwhile.
    for (int ordinal = 10; ordinal < 30; ordinal++) {
      get(cache, files.get(2), ordinal, () -> ByteBuffer.allocate(LENGTH));
      assertThat(cache.heldBytes()).isLessThanOrEqualTo(8 * LENGTH);
    }
    isAllowed.countDown();
    for (Windows file : files.subList(0, 2)) {
      for (int ordinal : new int[] {1, 2}) {
        get(cache, file, ordinal, () -> {
          throw new AssertionError("asked for again");
        });
      }
    }
    assertThat(requests).hasValue(4);
    cache.readAhead(files.get(2), 0, 100, ordinal -> ByteBuffer.allocate(LENGTH));
    get(cache, files.get(2), 1, () -> {
      throw new AssertionError("there was room again");
    });
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aFailedRequestIsNotRemembered() {
    RegionCache cache = new RegionCache(LENGTH);
    Windows file = file();
    assertThatThrownBy(() -> get(cache, file, 0, () -> {
          throw new StorageException("x", "injected");
        }))
        .isInstanceOf(StorageException.class);
    assertThat(cache.heldBytes()).isZero();
    assertThat(get(cache, file, 0, () -> ByteBuffer.allocate(7)).capacity()).isEqualTo(7);
  }

  @Test
  void thoseWhoAskAtTheSameTimeWaitForOneRequest() throws Exception {
    RegionCache cache = new RegionCache(LENGTH);
    Windows file = file();
    AtomicInteger requests = new AtomicInteger();
    List<FutureTask<ByteBuffer>> regions = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    CountDownLatch areStarted = new CountDownLatch(1);
    for (int i = 0; i < 4; i++) {
      regions.add(new FutureTask<>(() -> get(cache, file, 0, () -> {
        requests.incrementAndGet();
        await(areStarted);
        awaitWaiting(threads, requests);
        return ByteBuffer.allocate(5);
      })));
      threads.add(new Thread(regions.get(i)));
    }
    threads.forEach(Thread::start);
    areStarted.countDown();
    for (FutureTask<ByteBuffer> region : regions) {
      assertThat(region.get()).isSameAs(regions.get(0).get());
    }
    assertThat(requests).hasValue(1);
  }

  /** Waits until all threads but the current one wait, or there is another request. */
  private static void awaitWaiting(List<Thread> threads, AtomicInteger requests) {
    for (Thread thread : threads) {
      while (thread != Thread.currentThread()
          && thread.getState() != Thread.State.WAITING
          && requests.get() == 1) {
        Thread.onSpinWait();
      }
    }
  }

  /** What is read again is verified again, though it was right before. */
  @ParameterizedTest
  @ValueSource(strings = {"raw", "zstd", "lz4"})
  void bytesThatAreFetchedAgainAreVerifiedAgain(String codec) throws IOException {
    RecordSchema schema = RecordSchema.builder()
        .field("number", ElementType.I64, Shape.scalar(), Compression.parse(codec))
        .field("bytes", ElementType.BYTES, Shape.scalar(), Compression.parse(codec))
        .build();
    Storage local = LocalStorage.at(directory);
    ShardSummary shard = write(local, schema);
    UnmappedStorage storage = new UnmappedStorage(local, 1 << 16);
    RecordDataset.ReadOptions first =
        new RecordDataset.ReadOptions(Verification.FIRST, new ReadMetrics());
    try (RecordDataset dataset = RecordDataset.openShard(storage, schema, shard, first)) {
      for (int time = 0; time < 3; time++) {
        assertThat(readAll(dataset)).isZero();
      }
      int before = storage.requests();
      assertThat(before).as("each region once").isLessThanOrEqualTo(regions(shard));
      Path chunk =
          directory.resolve(shard.directory()).resolve(shard.chunks().get(0).fileName());
      damage(chunk);
      evictAll();
      assertThat(readAll(dataset)).as("fields with damage").isPositive();
    }
  }

  private static int regions(ShardSummary shard) {
    long bytes = shard.chunks().get(0).bytes();
    return (int) ((bytes >> 16) + (shard.tables().get(0).bytes() >> 16) + 2);
  }

  private static void evictAll() {
    Windows other = new Windows(
        new UnmappedFileOfZeros(1 << 30, 1 << 30), 1 << 30, false, first -> {}, kept -> {});
    get(RegionCache.shared(), other, 0, () -> ByteBuffer.allocate(1));
  }

  private static ShardSummary write(Storage storage, RecordSchema schema) {
    Random random = new Random(7);
    try (ShardWriter writer = ShardWriter.create(
        storage,
        UUID.randomUUID(),
        schema,
        WriteOptions.defaults().withDurability(Durability.NONE))) {
      byte[] value = new byte[300];
      for (int i = 0; i < LENGTH; i++) {
        random.nextBytes(value);
        writer.putLong(0, random.nextLong());
        writer.put(1, value, 0, 100 + i % 200);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  /** Reads both fields with new readers. Returns in how many damage was found. */
  private static int readAll(RecordDataset dataset) {
    int damaged = 0;
    for (String name : List.of("number", "bytes")) {
      try {
        FieldReader reader = dataset.reader(name);
        reader.selectRange(0, LENGTH, Long.MAX_VALUE);
        reader.copyAll(ByteBuffer.allocate((int) reader.totalLengthBytes()));
      } catch (CorruptDataException e) {
        damaged++;
      }
    }
    return damaged;
  }

  private static void damage(Path file) throws IOException {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      bytes.seek(bytes.length() / 2);
      int old = bytes.read();
      bytes.seek(bytes.length() / 2);
      bytes.write(old ^ 1);
    }
  }
}
