package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.DatasetKind;
import io.zrecord.RecordDataset;
import io.zrecord.RecordSource;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.WriterReplacedException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.store.StoppedFiles.Habits;
import io.zrecord.store.StoppedFiles.Stops;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.ForwardingFiles;
import io.zrecord.testing.ForwardingStorage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two writers have a store, because the first lost its lock, and one of them turns the store into a
 * table. The first is stopped before any of its calls, or after its look for its token. The second
 * works to its end, and then the first goes on. What either acknowledged is there, and a conversion
 * that says that it failed has made no table. Converters that do not look, and writers that leave a
 * manifest that is not published to the other, lose something, or this would prove nothing.
 */
final class TwoWritersAndConversionTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("x", ElementType.I64)
      .field("y", ElementType.I64)
      .build();
  private static final int PRESENT = 3;
  private static final int COMMITS = 3;

  /** The stops of the first are at most this far apart, by chance. */
  private static final int STRIDE = Math.max(1, 6 / Math.max(1, Budget.of(5)));

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  private int stores;

  @AfterEach
  void endThreads() {
    threads.shutdownNow();
  }

  private static StoreOptions options() {
    return StoreOptions.defaults().withWriters(1).withReaders(0).withCheckpointBytes(1 << 12);
  }

  /** What a writer does with a store. */
  private enum Script {
    COMMIT,
    STAY_OPEN,
    CONVERT
  }

  /** A writer, and what it knows of what it did. */
  private static final class Writer {
    private final Path path;
    private final MutableFiles files;
    private final Stops stops;
    private final long first;
    final Script script;
    final List<Long> acknowledged = new ArrayList<>();
    volatile boolean isConverted;

    @Nullable
    volatile ZRecordException failure;

    Writer(Path path, Script script, int stopAt, long first, Habits habits) {
      this.path = path;
      this.script = script;
      this.stops = new Stops(stopAt);
      this.files = new StoppedFiles(new LocalMutableFiles(path), stops, habits);
      this.first = first;
    }

    void run() {
      try {
        if (script == Script.CONVERT) {
          StoreSnapshot.convert(path, files, publishing(path));
          isConverted = true;
        } else {
          commit();
        }
      } catch (ZRecordException e) {
        failure = e;
      } finally {
        stops.isStopped.release();
      }
    }

    private void commit() {
      RecordStore store = RecordStore.open(files, options(), () -> {});
      for (long value = first; value < first + COMMITS; value++) {
        store.append(store.newValues().set("x", value).set("y", value));
        store.commit();
        acknowledged.add(value);
      }
      if (script == Script.COMMIT) {
        store.close();
      }
    }

    boolean mayHaveConverted() {
      return isConverted || failure instanceof CommitOutcomeUnknownException;
    }
  }

  private static Function<Runnable, Storage> publishing(Path path) {
    return lastCheck -> LocalStorage.fenced(path, lastCheck);
  }

  private Path store() {
    Path path = directory.resolve("store" + stores++);
    try (RecordStore store = RecordStore.create(path, SCHEMA, options())) {
      for (long i = 0; i < PRESENT; i++) {
        store.append(store.newValues().set("x", i).set("y", i));
      }
    }
    return path;
  }

  /** What became of two writers. */
  private record Outcome(@Nullable String problem, boolean isFirstStopped, boolean isReplaced) {}

  private Outcome run(Script one, int stop, Script two, Habits habits) throws Exception {
    Path path = store();
    Writer first = new Writer(path, one, stop, 1_000, habits);
    Future<?> run = threads.submit(first::run);
    first.stops.isStopped.acquireUninterruptibly();
    boolean isStopped = !first.stops.isOver();
    Writer second = new Writer(path, two, Integer.MAX_VALUE, 2_000, habits);
    second.run();
    first.stops.goesOn.release();
    run.get();
    String problem;
    try {
      problem = problem(path, first, second);
    } catch (ZRecordException e) {
      problem = e.toString();
    }
    new LocalMutableFiles(directory).delete(path.getFileName().toString());
    return new Outcome(problem, isStopped, first.failure instanceof WriterReplacedException);
  }

  private static @Nullable String problem(Path path, Writer first, Writer second) {
    boolean isTable = DatasetKind.of(LocalStorage.at(path)) == DatasetKind.TABLE;
    if (!isTable && second.failure != null) {
      return "the second failed: " + second.failure;
    }
    if (isTable != (first.mayHaveConverted() || second.mayHaveConverted())) {
      return isTable ? "a table that nobody made" : "a table that is none";
    }
    List<Writer> writers = List.of(first, second);
    if (isTable) {
      try (RecordDataset table = RecordDataset.open(path.toString())) {
        return missing(table, table.length(), writers);
      }
    }
    try (RecordStore store = RecordStore.open(new LocalMutableFiles(path), options(), () -> {})) {
      return missing(store, store.length(), writers);
    }
  }

  private static @Nullable String missing(RecordSource records, long length, List<Writer> writers) {
    Map<Long, Integer> found = new HashMap<>();
    for (long index = 0; index < length; index++) {
      try (Batch batch = records.gather(new long[] {index})) {
        long x = batch.value("x", 0).getLong();
        if (x != batch.value("y", 0).getLong()) {
          return "record " + index + " has fields of two versions";
        }
        found.merge(x, 1, Integer::sum);
      }
    }
    List<Long> expected = new ArrayList<>(List.of(0L, 1L, 2L));
    writers.forEach(writer -> expected.addAll(writer.acknowledged));
    for (long value : expected) {
      if (found.getOrDefault(value, 0) != 1) {
        return value + " is there " + found.getOrDefault(value, 0) + " times";
      }
    }
    return null;
  }

  @ParameterizedTest
  @CsvSource({"CONVERT, COMMIT", "CONVERT, STAY_OPEN", "CONVERT, CONVERT", "COMMIT, CONVERT"})
  void whatIsAcknowledgedIsThereWhereverTheFirstIsStopped(Script one, Script two) throws Exception {
    Random random = Budget.random();
    int replaced = 0;
    int orders = 0;
    boolean isStopped = true;
    for (int stop = 0; isStopped; stop += 1 + random.nextInt(STRIDE)) {
      Outcome outcome = run(one, stop, two, Habits.GOOD);
      assertThat(outcome.problem())
          .as("%s stopped at %s, then %s", one, stop, two)
          .isNull();
      isStopped = outcome.isFirstStopped();
      replaced += outcome.isReplaced() ? 1 : 0;
      orders++;
    }
    System.out.printf("%s, %s: %d orders, the first replaced in %d%n", one, two, orders, replaced);
    assertThat(replaced).isPositive();
  }

  private int lost(Habits habits) throws Exception {
    int lost = 0;
    int orders = 0;
    boolean isStopped = true;
    for (int stop = 0; isStopped; stop++) {
      Outcome outcome = run(Script.CONVERT, stop, Script.COMMIT, habits);
      isStopped = outcome.isFirstStopped();
      lost += outcome.problem() == null ? 0 : 1;
      orders++;
    }
    System.out.printf(
        "%s: %d of %d orders with a conversion lost something%n", habits, lost, orders);
    return lost;
  }

  @Test
  void convertersThatDoNotLookLoseSomething() throws Exception {
    assertThat(lost(Habits.NEVER_LOOKS)).isPositive();
  }

  @Test
  void writersThatKeepTheManifestsOfAnotherLoseSomething() throws Exception {
    assertThat(lost(Habits.KEEPS_MANIFESTS)).isPositive();
  }

  /** As for lack of space: what is closed stays closed, for readers and for copies of its files. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aConversionThatFailsLeavesAClosedStore(boolean isShardThere) throws Exception {
    Path path = store();
    LocalMutableFiles files = new LocalMutableFiles(path);
    Path inTheWay = path.resolve("shard");
    if (!isShardThere) {
      Files.createFile(inTheWay);
    }
    assertThatThrownBy(() -> StoreSnapshot.convert(path, files, lastCheck -> {
          Storage storage = publishing(path).apply(lastCheck);
          return new ForwardingStorage(storage) {
            @Override
            public List<StoredFile> list(String directory) {
              throw new IllegalStateException("the medium fails");
            }
          };
        }))
        .isInstanceOf(isShardThere ? IllegalStateException.class : StorageException.class);
    if (isShardThere) {
      assertThat(files.list("shard")).isEmpty();
    } else {
      Files.delete(inTheWay);
    }
    assertThat(files.list("")).noneMatch(name -> name.startsWith("writer-"));
    try (StoreReader reader = StoreReader.open(path)) {
      assertThat(reader.length()).isEqualTo(PRESENT);
    }
    assertThat(StoreSnapshot.convert(path, files, publishing(path)).length()).isEqualTo(PRESENT);
    requireTable(path);
  }

  /** The table is there, and its caller must not believe that nothing happened. */
  @Test
  void aConversionEndsWellIfOnlyFilesOfTheStoreCannotBeDeleted() {
    Path path = store();
    MutableFiles files = new ForwardingFiles(new LocalMutableFiles(path)) {
      @Override
      public void delete(List<String> names, Runnable lastCheck) {
        if (names.contains("meta.json")) {
          throw new StorageException("meta.json", "the medium fails");
        }
        super.delete(names, lastCheck);
      }
    };
    TableSnapshot made = StoreSnapshot.convert(path, files, publishing(path));
    assertThat(made.length()).isEqualTo(PRESENT);
    requireTable(path);
  }

  /** The look comes before the link, so that a writer that comes after the link finds a table. */
  @Test
  void aConversionEndsWellIfAWriterIsRefusedWhenTheTableIsThere() {
    Path path = store();
    LocalMutableFiles own = new LocalMutableFiles(path);
    MutableFiles files = new ForwardingFiles(own) {
      @Override
      public void delete(List<String> names, Runnable lastCheck) {
        if (names.contains("meta.json")) {
          own.list("").stream().filter(name -> name.startsWith("writer-")).forEach(own::delete);
        }
        super.delete(names, lastCheck);
      }
    };
    assertThat(StoreSnapshot.convert(path, files, publishing(path)).length()).isEqualTo(PRESENT);
    assertThat(own.exists("meta.json")).isTrue();
    requireTable(path);
  }

  @Test
  void aConversionThatCannotReadTheTableSaysThatTheOutcomeIsUnknown() {
    boolean isDone = false;
    for (int reads = 0; !isDone; reads++) {
      Path path = store();
      Function<Runnable, Storage> publishing = failing(publishing(path), reads);
      LocalMutableFiles files = new LocalMutableFiles(path);
      try {
        assertThat(StoreSnapshot.convert(path, files, publishing).length()).isEqualTo(PRESENT);
        isDone = true;
      } catch (CommitOutcomeUnknownException e) {
        assertThat(files.exists("meta.json")).isTrue();
        assertThat(reads).isLessThan(20);
      }
      requireTable(path);
    }
  }

  /** Lets reading fail once the table is there, after a number of reads. */
  private static Function<Runnable, Storage> failing(
      Function<Runnable, Storage> publishing, int reads) {
    return lastCheck -> new ForwardingStorage(publishing.apply(lastCheck)) {
      private boolean isPublished;
      private int left = reads;

      @Override
      public boolean publish(String name, byte[] content) {
        isPublished |= super.publish(name, content);
        return isPublished;
      }

      @Override
      public byte[] read(String name, int maxBytes) {
        if (isPublished && left-- == 0) {
          throw new StorageException(name, "the medium fails");
        }
        return super.read(name, maxBytes);
      }
    };
  }

  private static void requireTable(Path path) {
    assertThat(DatasetKind.of(path.toString())).isEqualTo(DatasetKind.TABLE);
    try (RecordDataset table = RecordDataset.open(path.toString())) {
      assertThat(table.length()).isEqualTo(PRESENT);
    }
    assertThatThrownBy(() -> RecordStore.open(path, StoreOptions.defaults()))
        .hasMessageContaining("it is a table now");
  }
}
