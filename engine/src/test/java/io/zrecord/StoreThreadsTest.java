package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.testing.Budget;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What threads that append do not expect: the store is closed, or they are interrupted. Nothing
 * that they were told of is lost.
 */
class StoreThreadsTest {
  private static final int THREADS = 4;
  private static final int CLOSES = Math.max(5, Budget.of(100));
  private static final int INTERRUPTS = Math.max(40, Budget.of(4_000));

  /** Every eighth interrupt waits for a commit before the next one. */
  private static final int INTERRUPTS_OF_A_COMMIT = 8;

  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("key", ElementType.I64)
      .field("raw", ElementType.BYTES)
      .field("packed", ElementType.BYTES, Shape.scalar(), Compression.of(Codec.ZSTD))
      .build();
  private static final StoreOptions OPTIONS = StoreOptions.defaults().withChunkBytes(1 << 13);

  @TempDir
  Path directory;

  private final Set<Long> acknowledged = ConcurrentHashMap.newKeySet();
  private final Queue<Throwable> surprises = new ConcurrentLinkedQueue<>();

  /** Has a permit for each commit. */
  private final Semaphore commits = new Semaphore(0);

  private void awaitCommits(int count) throws InterruptedException {
    assertThat(commits.tryAcquire(count, 5, TimeUnit.MINUTES))
        .as("commits of %s threads, surprises %s", THREADS, surprises)
        .isTrue();
  }

  /** Appends records of its own, and notes them when they are committed. */
  private Thread appender(RecordStore store, long first, AtomicBoolean isDone) {
    Thread thread = new Thread(() -> {
      RecordValues values = store.newValues();
      for (long key = first; !isDone.get(); key++) {
        try {
          byte[] value = new byte[500];
          new Random(key).nextBytes(value);
          store.append(values.set("key", key).set("raw", value).set("packed", value));
          store.commit();
          acknowledged.add(key);
          commits.release();
        } catch (IllegalStateException e) {
          // The store is closed.
          return;
        } catch (RuntimeException | Error e) {
          surprises.add(e);
          return;
        }
      }
    });
    thread.start();
    return thread;
  }

  private void requireAcknowledged(RecordStore store) {
    Set<Long> missing = ConcurrentHashMap.newKeySet();
    missing.addAll(acknowledged);
    for (long index = 0; index < store.length(); index++) {
      try (Batch batch = store.gather(new long[] {index})) {
        long key = Long.reverseBytes(ByteBuffer.wrap(batch.bytes("key", 0)).getLong());
        byte[] value = new byte[500];
        new Random(key).nextBytes(value);
        assertThat(batch.bytes("raw", 0)).isEqualTo(value);
        assertThat(batch.bytes("packed", 0)).isEqualTo(value);
        missing.remove(key);
      }
    }
    assertThat(missing).isEmpty();
  }

  @Test
  void closingWhileOthersAppendKeepsWhatWasCommitted() throws Exception {
    Path path = directory.resolve("store");
    RecordStore.create(path, SCHEMA, OPTIONS).close();
    Random random = Budget.random();
    for (long round = 0; round < CLOSES; round++) {
      commits.drainPermits();
      RecordStore store = RecordStore.open(path, OPTIONS);
      List<Thread> threads = new ArrayList<>();
      for (long t = 0; t < THREADS; t++) {
        threads.add(appender(store, round << 40 | t << 32, new AtomicBoolean()));
      }
      awaitCommits(random.nextInt(50));
      store.close();
      for (Thread thread : threads) {
        thread.join();
      }
    }
    try (RecordStore store = RecordStore.open(path, OPTIONS)) {
      requireAcknowledged(store);
    }
    System.out.printf("%d closes while others appended %d records%n", CLOSES, acknowledged.size());
    assertThat(surprises).isEmpty();
  }

  @Test
  void interruptsLoseNothing() throws Exception {
    Path path = directory.resolve("store");
    AtomicBoolean isDone = new AtomicBoolean();
    Random random = Budget.random();
    try (RecordStore store = RecordStore.create(path, SCHEMA, OPTIONS)) {
      List<Thread> threads = new ArrayList<>();
      for (long t = 0; t < THREADS; t++) {
        threads.add(appender(store, t << 32, isDone));
      }
      for (int interrupt = 1; interrupt <= INTERRUPTS; interrupt++) {
        threads.get(random.nextInt(THREADS)).interrupt();
        // The next one comes at any moment of an append.
        LockSupport.parkNanos(random.nextInt(1_000_000));
        if (interrupt % INTERRUPTS_OF_A_COMMIT == 0) {
          commits.drainPermits();
          awaitCommits(1);
        }
      }
      isDone.set(true);
      for (Thread thread : threads) {
        thread.join();
      }
      requireAcknowledged(store);
    }
    try (RecordStore store = RecordStore.open(path, OPTIONS)) {
      requireAcknowledged(store);
    }
    System.out.printf("%d interrupts, %d records appended%n", INTERRUPTS, acknowledged.size());
    assertThat(surprises).isEmpty();
    assertThat(acknowledged).hasSizeGreaterThanOrEqualTo(INTERRUPTS / INTERRUPTS_OF_A_COMMIT);
  }
}
