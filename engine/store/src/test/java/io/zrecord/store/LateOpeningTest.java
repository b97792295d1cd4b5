package io.zrecord.store;

import static io.zrecord.store.StoresWithoutLock.SCHEMA;
import static io.zrecord.store.StoresWithoutLock.append;
import static io.zrecord.store.StoresWithoutLock.open;
import static io.zrecord.store.StoresWithoutLock.requireFailure;
import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.testing.DirectoryInMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A writer that is stopped before it opens `live`, and goes on when another has opened and closed
 * the store, changes nothing in the file of the other.
 */
final class LateOpeningTest {
  /** More than an opening opens `live`. */
  private static final int MOST_OPENINGS = 12;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  @AfterEach
  void endThreads() {
    threads.shutdownNow();
  }

  @Test
  void aStoreThatWasClosedStaysClosed() throws IOException {
    int stopped = 0;
    for (boolean wasClosed : new boolean[] {true, false}) {
      for (int opening = 0; opening < MOST_OPENINGS; opening++) {
        stopped += stopAt(opening, wasClosed) ? 1 : 0;
      }
    }
    assertThat(stopped).isGreaterThan(4);
  }

  /** Stops a writer before one of its openings of the file. Returns whether there was that one. */
  private boolean stopAt(int opening, boolean wasClosed) throws IOException {
    Path path = directory.resolve(wasClosed + "-" + opening);
    try (RecordStore store =
        RecordStore.create(path, SCHEMA, StoreOptions.defaults().withWriters(1))) {
      append(store, 1);
    }
    if (!wasClosed) {
      Files.delete(path.resolve("live"));
      open(new LocalMutableFiles(path));
    }
    Semaphore isStopped = new Semaphore(0);
    Semaphore goesOn = new Semaphore(0);
    AtomicInteger openings = new AtomicInteger();
    WatchedFiles late = new WatchedFiles(new LocalMutableFiles(path), (call, name) -> {
      if (call.equals("open") && name.equals("live") && openings.getAndIncrement() == opening) {
        isStopped.release();
        goesOn.acquireUninterruptibly();
      }
    });
    AtomicBoolean isOver = new AtomicBoolean();
    CompletableFuture<RecordStore> first = CompletableFuture.supplyAsync(
        () -> {
          try {
            return open(late);
          } finally {
            isOver.set(true);
            isStopped.release();
          }
        },
        threads);
    isStopped.acquireUninterruptibly();
    if (isOver.get()) {
      return false;
    }
    RecordStore second = open(new LocalMutableFiles(path));
    append(second, 2);
    second.close();
    byte[] live = Files.readAllBytes(path.resolve("live"));
    goesOn.release();
    requireFailure(first, ZRecordException.class);
    assertThat(Files.readAllBytes(path.resolve("live")))
        .as("opening %d", opening)
        .isEqualTo(live);
    try (RecordStore store = open(new LocalMutableFiles(path))) {
      assertThat(StoresWithoutLock.values(store)).containsExactly(1L, 2L);
    }
    return true;
  }
}
