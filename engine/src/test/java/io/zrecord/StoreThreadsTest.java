package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
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
  private static final int CLOSES = 100;
  private static final int INTERRUPTED_SECONDS = 2;
  private static final long SEED = Long.getLong("zrecord.test.seed", 5);
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
    Random random = new Random(SEED);
    for (long round = 0; round < CLOSES; round++) {
      RecordStore store = RecordStore.open(path, OPTIONS);
      List<Thread> threads = new ArrayList<>();
      for (long t = 0; t < THREADS; t++) {
        threads.add(appender(store, round << 40 | t << 32, new AtomicBoolean()));
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(20)));
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
    Random random = new Random(SEED);
    long interrupts = 0;
    try (RecordStore store = RecordStore.create(path, SCHEMA, OPTIONS)) {
      List<Thread> threads = new ArrayList<>();
      for (long t = 0; t < THREADS; t++) {
        threads.add(appender(store, t << 32, isDone));
      }
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(INTERRUPTED_SECONDS);
      while (System.nanoTime() < end) {
        threads.get(random.nextInt(THREADS)).interrupt();
        interrupts++;
        LockSupport.parkNanos(500_000);
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
    System.out.printf("%d interrupts, %d records appended%n", interrupts, acknowledged.size());
    assertThat(surprises).isEmpty();
    assertThat(acknowledged).isNotEmpty();
  }
}
