package io.zrecord.store;

import static io.zrecord.store.StoresWithoutLock.SCHEMA;
import static io.zrecord.store.StoresWithoutLock.append;
import static io.zrecord.store.StoresWithoutLock.open;
import static io.zrecord.store.StoresWithoutLock.requireFailure;
import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.ForwardingFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
 * A writer that is stopped before it opens `live`, or after it found its token, and goes on when
 * another has opened and closed the store, changes nothing in the file of the other.
 */
final class LateOpeningTest {
  /** More than an opening opens `live` or looks for its token. */
  private static final int MOST_CALLS = 24;

  /** Where `live` says that the store was closed. */
  private static final int STATE_AT = 136;

  private static final byte CLOSED = 2;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  @AfterEach
  void endThreads() {
    threads.shutdownNow();
  }

  @Test
  void aStoreThatWasClosedStaysClosed() throws IOException {
    assertThat(stopAtEach("open", "live")).isGreaterThan(4);
  }

  @Test
  void aStoreThatWasClosedStaysClosedIfTheTokenHasJustBeenThere() throws IOException {
    assertThat(stopAtEach("looked", "writer-")).isGreaterThan(8);
  }

  /** Stops writers at each call of a kind. Returns how many calls there were. */
  private int stopAtEach(String call, String prefix) throws IOException {
    int stopped = 0;
    for (boolean wasClosed : new boolean[] {true, false}) {
      for (int number = 0; number < MOST_CALLS; number++) {
        stopped += stopAt(call, prefix, number, wasClosed) ? 1 : 0;
      }
    }
    return stopped;
  }

  /** Makes a store with one record, and closes the store. */
  private Path closed(String name) {
    Path path = directory.resolve(name);
    try (RecordStore store =
        RecordStore.create(path, SCHEMA, StoreOptions.defaults().withWriters(1))) {
      append(store, 1);
    }
    return path;
  }

  /** Stops a writer at one of its calls of a kind. Returns whether there was that one. */
  private boolean stopAt(String stop, String prefix, int number, boolean wasClosed)
      throws IOException {
    Path path = closed(stop + "-" + wasClosed + "-" + number);
    if (!wasClosed) {
      Files.delete(path.resolve("live"));
      open(new LocalMutableFiles(path));
    }
    Semaphore isStopped = new Semaphore(0);
    Semaphore goesOn = new Semaphore(0);
    AtomicInteger calls = new AtomicInteger();
    WatchedFiles late = new WatchedFiles(new LocalMutableFiles(path), (call, name) -> {
      if (call.equals(stop) && name.startsWith(prefix) && calls.getAndIncrement() == number) {
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
        .as("%s %d", stop, number)
        .isEqualTo(live);
    try (RecordStore store = open(new LocalMutableFiles(path))) {
      assertThat(StoresWithoutLock.values(store)).containsExactly(1L, 2L);
    }
    return true;
  }

  /** A list may lack the token of a writer that has just come, but not yet begun. */
  @Test
  void aWriterThatNobodySawBeginsWithWhatTheOtherCommittedOrNotAtAll() throws IOException {
    int stopped = 0;
    for (int number = 0; number < MOST_CALLS; number++) {
      Path path = closed("unseen-" + number);
      AtomicInteger calls = new AtomicInteger();
      int last = number;
      AtomicBoolean isStopped = new AtomicBoolean();
      WatchedFiles late = new WatchedFiles(new LocalMutableFiles(path), (call, name) -> {
        if (call.equals("looked")
            && name.startsWith("writer-")
            && calls.getAndIncrement() == last
            && isClosed(path)) {
          isStopped.set(true);
          RecordStore second = open(hiding(path, name));
          append(second, 2);
          second.close();
        }
      });
      try {
        RecordStore first = open(late);
        append(first, 3);
        first.close();
      } catch (ZRecordException e) {
        assertThat(isStopped).isTrue();
      }
      stopped += isStopped.get() ? 1 : 0;
      try (RecordStore store = open(new LocalMutableFiles(path))) {
        assertThat(StoresWithoutLock.values(store))
            .as("call %d", number)
            .startsWith(1L)
            .containsAll(isStopped.get() ? List.of(2L) : List.of());
      }
    }
    assertThat(stopped).isGreaterThan(2);
  }

  private static boolean isClosed(Path path) {
    try {
      return Files.readAllBytes(path.resolve("live"))[STATE_AT] == CLOSED;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static MutableFiles hiding(Path path, String hidden) {
    return new ForwardingFiles(new LocalMutableFiles(path)) {
      @Override
      public List<String> list(String place) {
        return super.list(place).stream().filter(name -> !name.equals(hidden)).toList();
      }
    };
  }
}
