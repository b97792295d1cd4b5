package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.StoreLockedException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.DropOptions;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import io.zrecord.verify.Damage;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tables made of stores, at rest and while they are written. */
class StoreSnapshotTest {
  private static final RecordSchema PAIR = RecordSchema.builder()
      .field("group", ElementType.I64)
      .field("text", ElementType.UTF8)
      .build();
  private static final int RECORDS = 2_000;
  private static final int SNAPSHOTS = Math.max(6, Budget.of(60));
  private static final Cleaner CLEANER = Cleaner.create();

  @TempDir
  Path directory;

  @Test
  void aSnapshotHasWhatWasCommittedAndStaysWhatItIs() throws Exception {
    StoreModel model = new StoreModel(Budget.seed(), 300);
    Path path = directory.resolve("store");
    try (RecordStore store = RecordStore.create(
        path, StoreModel.SCHEMA, StoreOptions.defaults().withChunkBytes(1 << 16))) {
      for (int i = 0; i < 1_000; i++) {
        model.next(store);
      }
      store.commit();
      TableSnapshot table = StoreSnapshot.create(path, directory.resolve("copy"));
      assertThat(table.length()).isEqualTo(model.length());
      StoreModel later = new StoreModel(Budget.seed(), 300);
      for (int i = 0; i < 1_000; i++) {
        later.next(null);
        model.next(store);
      }
      store.checkpoint();
      requireContent(directory.resolve("copy"), later);
      requireContent(path, model);
    }
    awaitEmpty(directory.resolve("store/snapshot"));
  }

  /** The chunks of the second table are older than the drop, and are not those that it deletes. */
  @Test
  void aTableIsMadeAgainWhereItWasDropped() {
    Path path = directory.resolve("store");
    Path target = directory.resolve("copy");
    try (RecordStore store = RecordStore.create(path, PAIR, StoreOptions.defaults())) {
      store.append(store.newValues().set("group", 5L));
      store.commit();
      store.checkpoint();
    }
    for (int round = 0; round < 2; round++) {
      TableSnapshot table = StoreSnapshot.create(path, target);
      assertThat(table.version()).isEqualTo(2L * round);
      try (RecordDataset dataset = RecordDataset.open(target.toString())) {
        assertThat(dataset.length()).isOne();
      }
      RecordTable.at(table.storage()).drop(table.tableId(), DropOptions.defaults());
    }
    assertThat(target.resolve("shard")).isEmptyDirectory();
  }

  private static void requireContent(Path path, StoreModel model) {
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      assertThat(model.differenceFrom(dataset)).isNull();
    }
  }

  /**
   * Waits for the removal of all snapshots. The removal stands behind the unmapping of all files
   * that earlier tests of this process mapped and deleted, which takes minutes on a busy disk.
   */
  private static void awaitEmpty(Path snapshots) throws IOException, InterruptedException {
    AtomicBoolean isCleaning = new AtomicBoolean();
    CLEANER.register(new Object(), () -> isCleaning.set(true));
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(10);
    try (WatchService removals = snapshots.getFileSystem().newWatchService()) {
      WatchKey removal = snapshots.register(removals, StandardWatchEventKinds.ENTRY_DELETE);
      while (snapshots.toFile().list().length > 0 && System.nanoTime() < end) {
        System.gc();
        // The removal itself, or a collection that was too early for it.
        removals.poll(100, TimeUnit.MILLISECONDS);
        removal.reset();
      }
    }
    try (Stream<Path> left = Files.walk(snapshots)) {
      assertThat(left)
          .as(
              "with %s, while other unreachable objects were cleaned up: %s",
              lockStates(snapshots), isCleaning)
          .containsExactly(snapshots);
    }
  }

  /** Tells a snapshot that is in use from a snapshot that could not be removed. */
  private static List<ProcessLock.Writer> lockStates(Path snapshots) {
    return Stream.of(snapshots.toFile().list())
        .map(name -> ProcessLock.writer(snapshots.resolve(name)))
        .toList();
  }

  @Test
  void readersOfAStoreOutliveTheirDataset() {
    Path path = directory.resolve("store");
    try (RecordStore store = RecordStore.create(path, PAIR, StoreOptions.defaults())) {
      store.append(store.newValues().set("group", 5L));
    }
    RecordDataset dataset = RecordDataset.open(path.toString());
    FieldReader reader = dataset.reader("group");
    dataset.close();
    System.gc();
    reader.select(new long[] {0}, 0, 1);
    assertThat(reader.value(0)).startsWith(5);
  }

  @Test
  void oneOfSeveralSnapshotsToOneTargetIsMade() throws Exception {
    Path path = directory.resolve("store");
    try (RecordStore store = RecordStore.create(path, PAIR, StoreOptions.defaults())) {
      for (int i = 0; i < 1_000; i++) {
        store.append(store.newValues().set("group", (long) i));
      }
    }
    for (int round = Math.max(4, Budget.of(20)); round > 0; round--) {
      Path target = directory.resolve("target-" + round);
      AtomicInteger made = new AtomicInteger();
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 3; t++) {
        threads.add(new Thread(() -> {
          try {
            StoreSnapshot.create(path, target);
            made.incrementAndGet();
          } catch (ZRecordException e) {
            assertThat(e).hasMessageContaining("target");
          }
        }));
      }
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join();
      }
      assertThat(made.get()).isOne();
      try (RecordDataset dataset = RecordDataset.open(target.toString())) {
        assertThat(dataset.length()).isEqualTo(1_000);
      }
    }
  }

  @Test
  void aConversionThatWasCutShortBeforeItsCommitLeavesAStore() throws Exception {
    Path path = directory.resolve("store");
    try (RecordStore store = RecordStore.create(path, PAIR, StoreOptions.defaults())) {
      store.append(store.newValues().set("group", 5L));
    }
    Files.createDirectories(path.resolve("manifest"));
    Files.createDirectories(path.resolve("shard"));
    assertThat(RecordStore.exists(path)).isTrue();
    RecordStore.open(path, StoreOptions.defaults()).close();
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      assertThat(dataset.length()).isOne();
    }
    assertThat(StoreSnapshot.convert(path).length()).isOne();
  }

  @Test
  void aStoreThatWouldMakeATableThatNobodyCanReadStaysAStore() {
    Path alive = directory.resolve("alive");
    Path damaged = directory.resolve("damaged");
    try (RecordStore store = RecordStore.create(alive, PAIR, StoreOptions.defaults())) {
      for (long i = 0; i < 10; i++) {
        store.append(store.newValues().set("group", i));
      }
      store.checkpoint();
      // A commit in the journal, after which values are counted again.
      store.append(store.newValues().set("group", 10L));
      store.commit();
      Damage.copy(alive, damaged);
    }
    // The highest byte of the length of a value that the journal does not have.
    Damage.flip(damaged.resolve("group.offset"), 15);
    assertThatThrownBy(() -> StoreSnapshot.convert(damaged))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("readers would refuse it")
        .hasMessageContaining("bytes of");
    try (RecordStore store = RecordStore.open(damaged, StoreOptions.defaults());
        Batch batch = store.gather(new long[] {10}, "group")) {
      assertThat(store.length()).isEqualTo(11);
      assertThat(batch.bytes("group", 0)).startsWith(10);
    }
  }

  /**
   * Each commit gives all records the same new number: a snapshot that mixes two states would show
   * two numbers.
   */
  @Test
  void aSnapshotIsOneStateWhileItChanges() throws Exception {
    Path path = directory.resolve("store");
    StoreOptions options =
        StoreOptions.defaults().withCheckpointBytes(1 << 20).withDurability(StoreDurability.NONE);
    int snapshots = 0;
    Set<Long> states = new HashSet<>();
    try (RecordStore store = RecordStore.create(path, PAIR, options)) {
      for (int i = 0; i < RECORDS; i++) {
        store.append(store.newValues().set("group", 0L).set("text", "0"));
      }
      store.commit();
      AtomicBoolean isDone = new AtomicBoolean();
      Thread writer = new Thread(() -> change(store, isDone));
      writer.start();
      try {
        while (snapshots < SNAPSHOTS || states.size() < 2) {
          assertThat(writer.isAlive()).isTrue();
          try (RecordDataset dataset = RecordDataset.open(path.toString())) {
            states.add(requireOneState(dataset));
            snapshots++;
          }
        }
      } finally {
        isDone.set(true);
        writer.join();
      }
    }
    System.out.printf("%d snapshots of %d states of a store%n", snapshots, states.size());
  }

  private static void change(RecordStore store, AtomicBoolean isDone) {
    Random random = Budget.random();
    RecordValues values = store.newValues();
    for (long group = 1; !isDone.get(); group++) {
      values.set("group", group).set("text", Long.toString(group));
      if (random.nextInt(4) == 0) {
        store.delete(random.nextInt(RECORDS));
        store.append(values);
      }
      for (int i = 0; i < RECORDS; i++) {
        store.update(i, values);
      }
      store.commit();
    }
  }

  private static long requireOneState(RecordDataset dataset) {
    assertThat(dataset.length()).isEqualTo(RECORDS);
    long[] indices = new long[RECORDS];
    Arrays.setAll(indices, i -> i);
    try (Batch batch = dataset.gather(indices)) {
      long group = batch.value("group", 0).getLong(0);
      for (int i = 0; i < RECORDS; i++) {
        ByteBuffer value = batch.value("group", i).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(value.getLong(0)).isEqualTo(group);
        assertThat(new String(batch.bytes("text", i), java.nio.charset.StandardCharsets.UTF_8))
            .isEqualTo(Long.toString(group));
      }
      return group;
    }
  }

  @Test
  void aStoreBecomesATableWithItsRecordsAndCanBeAppendedTo() {
    Path path = directory.resolve("store");
    StoreModel model = new StoreModel(Budget.seed(), 100);
    try (RecordStore store = RecordStore.create(path, StoreModel.SCHEMA, StoreOptions.defaults())) {
      for (int i = 0; i < 300; i++) {
        model.next(store);
      }
      store.commit();
      assertThatThrownBy(() -> StoreSnapshot.convert(path))
          .isInstanceOf(StoreLockedException.class);
    }
    StoreSnapshot.convert(path);
    assertThat(Files.exists(path.resolve("journal"))).isFalse();
    assertThatThrownBy(() -> RecordStore.open(path, StoreOptions.defaults()))
        .isInstanceOf(NotADatasetException.class)
        .hasMessageContaining("table");
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      assertThat(model.differenceFrom(dataset)).isNull();
    }
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(path.toString(), StoreModel.SCHEMA, WriteOptions.defaults())) {
      writer.newAppender().set("id", 7L).endRecord();
      writer.commit();
    }
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      assertThat(dataset.length()).isEqualTo(model.length() + 1);
    }
  }

  @Test
  void anEmptyStoreIsAnEmptyTable() {
    Path path = directory.resolve("store");
    RecordStore.create(path, PAIR, StoreOptions.defaults()).close();
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      assertThat(dataset.length()).isZero();
      assertThat(dataset.schema()).isEqualTo(PAIR);
    }
    assertThat(StoreSnapshot.convert(path).schema()).isEqualTo(PAIR);
    assertThat(List.of(path.toFile().list())).contains("manifest").doesNotContain("meta.json");
  }
}
