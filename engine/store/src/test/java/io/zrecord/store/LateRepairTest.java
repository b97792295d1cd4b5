package io.zrecord.store;

import static io.zrecord.store.StoresWithoutLock.SCHEMA;
import static io.zrecord.store.StoresWithoutLock.append;
import static io.zrecord.store.StoresWithoutLock.open;
import static io.zrecord.store.StoresWithoutLock.requireFailure;
import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.errors.WriterReplacedException;
import io.zrecord.findings.CheckListener;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.repair.StoreRepair;
import io.zrecord.repair.DamagedValues;
import io.zrecord.store.WatchedFiles.Stop;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.verify.Damage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A repair that is stopped between its look for its token and its write, and goes on when a second
 * repair has ended and a writer has changed the store: it writes nothing over what they wrote.
 */
final class LateRepairTest {
  private static final int COUNT = 8;

  /** Where `live` says that the store was closed. */
  private static final int MARK_AT = 136;

  private static final byte CLOSED = 2;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  @AfterEach
  void endThreads() {
    threads.shutdownNow();
  }

  private static List<Object> values(Path path) {
    List<Object> values = new ArrayList<>();
    RecordStore store = open(new LocalMutableFiles(path));
    for (long index = 0; index < store.length(); index++) {
      try (Batch batch = store.gather(new long[] {index})) {
        values.add(batch.isAbsent("x", 0) ? "absent" : batch.value("x", 0).getLong());
      }
    }
    return values;
  }

  private static void repair(MutableFiles files, DamagedValues treatment) {
    CheckListener ignored = finding -> {};
    new StoreRepair(files, treatment, move -> {}).run(ignored, plan -> true);
  }

  /** Starts a repair that is stopped before it writes to a file. */
  private CompletableFuture<Void> repairUntil(Path path, Stop write, DamagedValues treatment) {
    CompletableFuture<Void> repair = CompletableFuture.runAsync(
        () -> repair(new WatchedFiles(new LocalMutableFiles(path), write.set()), treatment),
        threads);
    write.awaitStop();
    return repair;
  }

  @Test
  void zerosForATableDoNotReachTheTablesOfAWriter() {
    Path path = directory.resolve("store");
    try (RecordStore store =
        RecordStore.create(path, SCHEMA, StoreOptions.defaults().withWriters(1))) {
      for (long value = 0; value < COUNT; value++) {
        append(store, value);
      }
    }
    Damage.cut(path.resolve("x.offset"), 16 * (COUNT - 2));
    Stop write = new Stop("write", "x.offset");
    CompletableFuture<Void> first = repairUntil(path, write, DamagedValues.MARK_ABSENT);
    repair(new LocalMutableFiles(path), DamagedValues.MARK_ABSENT);
    try (RecordStore store = open(new LocalMutableFiles(path))) {
      for (long index = COUNT - 2; index < COUNT; index++) {
        store.update(index, store.newValues().set("x", 100 + index));
      }
      store.commit();
    }
    List<Object> expected = List.of(0L, 1L, 2L, 3L, 4L, 5L, 106L, 107L);
    assertThat(values(path)).isEqualTo(expected);
    write.goOn();
    requireFailure(first, WriterReplacedException.class);
    assertThat(values(path)).isEqualTo(expected);
  }

  /** A repair that has put its own `live` there goes on when the store was repaired and closed. */
  @Test
  void theMarkOfALaterWriterStays() throws IOException {
    Path path = directory.resolve("store");
    try (RecordStore store =
        RecordStore.create(path, SCHEMA, StoreOptions.defaults().withWriters(1))) {
      for (long value = 0; value < COUNT; value++) {
        append(store, value);
      }
    }
    Damage.cut(path.resolve("x.offset"), 16 * (COUNT - 2));
    Stop replaced = new Stop("replaced", "live");
    CompletableFuture<Void> first = repairUntil(path, replaced, DamagedValues.MARK_ABSENT);
    repair(new LocalMutableFiles(path), DamagedValues.MARK_ABSENT);
    byte[] live = Files.readAllBytes(path.resolve("live"));
    assertThat(live[MARK_AT]).isEqualTo(CLOSED);
    replaced.goOn();
    requireFailure(first, WriterReplacedException.class);
    assertThat(Files.readAllBytes(path.resolve("live"))).isEqualTo(live);
  }

  /**
   * A loss of power took the values of a chunk, and those of the last commits are in the journal.
   */
  @Test
  void zerosForAChunkDoNotReplaceWhatTheJournalCarried() throws IOException {
    Path alive = directory.resolve("alive");
    Path path = directory.resolve("store");
    try (RecordStore store =
        RecordStore.create(alive, SCHEMA, StoreOptions.defaults().withWriters(1))) {
      append(store, 0);
      store.checkpoint();
      for (long value = 1; value < COUNT; value++) {
        append(store, value);
      }
      Damage.copy(alive, path);
    }
    String chunk = "chunk/0.zr";
    long carriedFrom = new JournalProbe(path).records().get(0).chunks().get(0).carriedFrom();
    Damage.cut(path.resolve(chunk), carriedFrom - 1);
    Stop write = new Stop("write", chunk);
    CompletableFuture<Void> first = repairUntil(path, write, DamagedValues.KEEP);
    repair(new LocalMutableFiles(path), DamagedValues.KEEP);
    List<Object> expected = values(path);
    assertThat(expected.subList(1, COUNT)).isEqualTo(List.of(1L, 2L, 3L, 4L, 5L, 6L, 7L));
    write.goOn();
    requireFailure(first, WriterReplacedException.class);
    assertThat(values(path)).isEqualTo(expected);
  }
}
