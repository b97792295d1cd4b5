package io.zrecord.store;

import static io.zrecord.store.StoresWithoutLock.SCHEMA;
import static io.zrecord.store.StoresWithoutLock.append;
import static io.zrecord.store.StoresWithoutLock.open;
import static io.zrecord.store.StoresWithoutLock.requireFailure;
import static io.zrecord.store.StoresWithoutLock.values;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.StoreAbandonedException;
import io.zrecord.errors.WriterReplacedException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.store.WatchedFiles.KilledException;
import io.zrecord.store.WatchedFiles.Stop;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.verify.Damage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A store that was closed, and one that its writer left: the file {@code live} tells them apart,
 * also when no file of a writer does.
 */
final class StoresThatWereLeftTest {
  private static final int STAMP_AT = 128;
  private static final int MARK_AT = 136;
  private static final byte CLOSED = 2;

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  private Path path() {
    return directory.resolve("store");
  }

  private LocalMutableFiles files() {
    return new LocalMutableFiles(path());
  }

  @AfterEach
  void endThreads() {
    threads.shutdownNow();
  }

  private void create(long... values) {
    try (RecordStore store =
        RecordStore.create(path(), SCHEMA, StoreOptions.defaults().withWriters(1))) {
      for (long value : values) {
        append(store, value);
      }
    }
  }

  private CompletableFuture<Void> run(Runnable work) {
    return CompletableFuture.runAsync(work, threads);
  }

  private List<String> tokens() {
    return files().list("").stream().filter(name -> name.startsWith("writer-")).toList();
  }

  private byte mark() {
    return mark(path());
  }

  private static byte mark(Path store) {
    return live(store).get(MARK_AT);
  }

  /** Returns what readers wait for as long as it is odd. */
  private long stampOfAllRecords() {
    return live(path()).getLong(STAMP_AT);
  }

  private static ByteBuffer live(Path store) {
    try {
      return ByteBuffer.wrap(Files.readAllBytes(store.resolve("live")))
          .order(ByteOrder.LITTLE_ENDIAN);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Two come at once, each deletes the tokens that it found, and both die before they look. */
  private void deleteAllTokens() {
    Stop two = new Stop("created", "writer-").set();
    CompletableFuture<Void> second = run(() -> open(new WatchedFiles(files(), dying(two))));
    two.awaitStop();
    // The list that it makes before it has a token is another.
    Stop three = new Stop("listed", "");
    CompletableFuture<Void> third = run(() -> open(new WatchedFiles(files(), (call, name) -> {
      if (call.equals("created")) {
        three.set();
      }
      dying(three).at(call, name);
    })));
    three.awaitStop();
    two.goOn();
    requireFailure(second, KilledException.class);
    three.goOn();
    requireFailure(third, KilledException.class);
    assertThat(tokens()).isEmpty();
  }

  private static WatchedFiles.Watch dying(Stop stop) {
    return (call, name) -> {
      stop.at(call, name);
      if (call.equals("look") && name.startsWith("writer-")) {
        throw new KilledException();
      }
    };
  }

  @Test
  void aWriterThatFindsNoTokenKeepsClearOfOneThatDidNotCloseTheStore() {
    create();
    Stop write = new Stop("write", "journal");
    RecordStore one = open(new WatchedFiles(files(), write));
    append(one, 1);
    write.set();
    CompletableFuture<Void> commit = run(() -> append(one, 2));
    write.awaitStop();
    deleteAllTokens();
    RecordStore four = open(files());
    for (long value = 100; value < 103; value++) {
      append(four, value);
    }
    write.goOn();
    requireFailure(commit, WriterReplacedException.class);
    assertThat(values(four)).containsExactly(1L, 100L, 101L, 102L);
    // The fourth is killed.
    assertThat(values(open(files()))).containsExactly(1L, 100L, 101L, 102L);
  }

  /** The first is stopped before and after each call of its opening of a closed store. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void ofTwoWritersThatFindNoTokenOnlyOneHasAClosedStore(boolean isKilledAfterMark) {
    boolean isStopped = true;
    int stops = 0;
    for (int step = 0; isStopped; step++) {
      files().list("").forEach(files()::delete);
      create(1);
      if (isKilledAfterMark) {
        // The first finds the token of one that was killed before it deleted the token.
        files().create("writer-" + UUID.randomUUID()).close();
      }
      int[] left = {-1};
      Stop stop = new Stop("open", "").set();
      int chosen = step;
      WatchedFiles files = new WatchedFiles(files(), (call, name) -> {
        if (call.equals("created") && name.startsWith("writer-")) {
          left[0] = chosen;
        }
        if (left[0] >= 0 && left[0]-- == 0) {
          stop.at("open", name);
        }
      });
      CompletableFuture<RecordStore> one = CompletableFuture.supplyAsync(() -> open(files), threads)
          .whenComplete((opened, e) -> stop.endWait());
      stop.awaitStop();
      isStopped = !stop.isUnused();
      stops += isStopped ? 1 : 0;
      deleteAllTokens();
      RecordStore two = open(files());
      append(two, 2);
      append(two, 3);
      stop.goOn();
      // After its last look it opens the store, and acknowledges nothing.
      one.thenAccept(opened -> assertThatThrownBy(() -> append(opened, 9))
              .isInstanceOf(WriterReplacedException.class))
          .exceptionally(e -> {
            assertThat(e.getCause()).isInstanceOf(StorageException.class);
            return null;
          })
          .join();
      assertThat(stampOfAllRecords() & 1).as("step %s", step).isZero();
      append(two, 4);
      assertThat(values(two)).as("step %s", step).containsExactly(1L, 2L, 3L, 4L);
      assertThat(values(open(files()))).as("step %s", step).containsExactly(1L, 2L, 3L, 4L);
    }
    assertThat(stops).isGreaterThan(10);
  }

  /** Nothing says then that the writer before closed the store. */
  @Test
  void aStoreWithoutLiveCountsAsOneThatWasLeft() {
    create();
    Stop write = new Stop("write", "journal");
    RecordStore one = open(new WatchedFiles(files(), write));
    append(one, 1);
    write.set();
    CompletableFuture<Void> commit = run(() -> append(one, 2));
    write.awaitStop();
    tokens().forEach(files()::delete);
    files().delete("live");
    RecordStore two = open(files());
    for (long value = 100; value < 103; value++) {
      append(two, value);
    }
    write.goOn();
    requireFailure(commit, WriterReplacedException.class);
    assertThat(values(open(files()))).containsExactly(1L, 100L, 101L, 102L);
  }

  @Test
  void aClosedStoreWithoutLiveHasItsRecords() {
    create(1, 2, 3);
    files().delete("live");
    assertThat(StoreSnapshot.create(path(), directory.resolve("table")).length())
        .isEqualTo(3);
    assertThatThrownBy(() -> StoreReader.open(path())).hasMessageContaining("live");
    try (RecordStore store = open(files())) {
      assertThat(values(store)).containsExactly(1L, 2L, 3L);
      append(store, 4);
    }
    assertThat(mark()).isEqualTo(CLOSED);
    assertThat(values(open(files()))).containsExactly(1L, 2L, 3L, 4L);
  }

  @Test
  void liveSaysThatAStoreIsClosedWhileNoWriterHasIt() {
    create(1);
    assertThat(mark()).isEqualTo(CLOSED);
    try (RecordStore store = RecordStore.open(path(), StoreOptions.defaults())) {
      assertThat(mark()).isNotEqualTo(CLOSED);
      append(store, 2);
      store.checkpoint();
      assertThat(mark()).isNotEqualTo(CLOSED);
      StoreSnapshot.create(path(), directory.resolve("table"));
      RecordStore.copy(path(), LocalStorage.at(directory.resolve("copy")));
    }
    assertThat(mark()).isEqualTo(CLOSED);
    assertThat(mark(directory.resolve("copy"))).isEqualTo(CLOSED);
    StoreRebalance.of(path(), StoreRebalanceOptions.defaults().withMinUtilization(1))
        .run();
    assertThat(mark()).isEqualTo(CLOSED);
    assertThat(values(open(files()))).containsExactly(1L, 2L);
  }

  /** The second comes before each call that the first makes to close the store. */
  @Test
  void aWriterThatWasReplacedWhileItClosedTheStoreDoesNotSayThatItIsClosed() {
    boolean isStopped = true;
    int replaced = 0;
    for (int step = 0; isStopped; step++) {
      files().list("").forEach(files()::delete);
      create();
      int[] left = {-1};
      Stop stop = new Stop("close", "").set();
      RecordStore one = open(new WatchedFiles(files(), (call, name) -> {
        if (left[0] >= 0 && left[0]-- == 0) {
          stop.at("close", name);
        }
      }));
      append(one, 1);
      left[0] = step;
      CompletableFuture<Void> closing = run(one::close).whenComplete((none, e) -> stop.endWait());
      stop.awaitStop();
      isStopped = !stop.isUnused();
      RecordStore two = open(files());
      append(two, 2);
      stop.goOn();
      closing.exceptionally(e -> null).join();
      replaced += isStopped ? 1 : 0;
      assertThat(mark()).as("step %s", step).isNotEqualTo(CLOSED);
      append(two, 3);
      assertThat(values(open(files()))).as("step %s", step).containsExactly(1L, 2L, 3L);
    }
    assertThat(replaced).isGreaterThan(5);
  }

  /** Such as copies of single files, the first made when the store was closed. */
  @Test
  void filesOfDifferentMomentsAreRefusedUnlessSomebodyRepairsThem() throws IOException {
    create(1, 2);
    try (RecordStore store = open(files())) {
      append(store, 3);
      Files.createDirectories(directory.resolve("later"));
      Files.copy(path().resolve("journal"), directory.resolve("later/journal"));
      store.checkpoint();
    }
    Files.copy(
        directory.resolve("later/journal"),
        path().resolve("journal"),
        StandardCopyOption.REPLACE_EXISTING);
    for (int attempt = 0; attempt < 2; attempt++) {
      assertThatThrownBy(() -> RecordStore.open(path(), StoreOptions.defaults()))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("different moments");
      assertThatThrownBy(() -> StoreSnapshot.create(path(), directory.resolve("table")))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("different moments");
      assertThatThrownBy(() -> RecordStore.copy(path(), LocalStorage.at(directory.resolve("copy"))))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("different moments");
    }
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(path().toString()).run(findings::add);
    assertThat(findings).extracting(Finding::kind).containsExactly(Finding.Kind.LIVE);
    assertThat(findings.get(0).problem()).contains("different moments");
    DatasetRepair.of(path().toString()).run(finding -> {}, plan -> true);
    assertThat(DatasetCheck.of(path().toString()).run(finding -> {}).isSound()).isTrue();
    try (RecordStore store = RecordStore.open(path(), StoreOptions.defaults())) {
      assertThat(values(store)).containsExactly(1L, 2L, 3L);
    }
  }

  /** The meta file is from before a change whose entries are in the tables. */
  @Test
  void aRepairKeepsWhatEntriesOfLostCommitsPointTo() throws IOException {
    create(1, 2);
    byte[] earlier = Files.readAllBytes(path().resolve("meta.json"));
    try (RecordStore store = open(files())) {
      store.update(0, store.newValues().set("x", 10L));
    }
    Files.write(path().resolve("meta.json"), earlier);
    byte[] values = Files.readAllBytes(path().resolve("chunk/0.zr"));
    DatasetRepair.of(path().toString()).run(finding -> {}, plan -> true);
    try (RecordStore store = open(files())) {
      append(store, 3);
    }
    assertThat(Files.readAllBytes(path().resolve("chunk/0.zr"))).startsWith(values);
  }

  /** Its tables are those of the checkpoint, unless commits that nobody forced were lost. */
  @Test
  void aReaderDoesNotTrustTheTablesOfAStoreThatWasLeftWithAnEmptyJournal() {
    create(1);
    Path left = directory.resolve("left");
    try (RecordStore store = RecordStore.open(path(), StoreOptions.defaults())) {
      append(store, 2);
      store.checkpoint();
      Damage.copy(path(), left);
    }
    assertThatThrownBy(() -> StoreReader.open(left)).isInstanceOf(StoreAbandonedException.class);
    RecordStore.open(left, StoreOptions.defaults()).close();
    try (StoreReader reader = StoreReader.open(left)) {
      assertThat(reader.length()).isEqualTo(2);
    }
  }
}
