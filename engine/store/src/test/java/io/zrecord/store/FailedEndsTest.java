package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.StoreLockedException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.write.StoreRecovery;
import io.zrecord.internal.store.write.StoreWriter;
import io.zrecord.testing.Budget;
import io.zrecord.testing.ForwardingFile;
import io.zrecord.testing.ForwardingFiles;
import io.zrecord.testing.PowerLossFiles;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Creations, recoveries and closings of stores that fail at any call. */
final class FailedEndsTest {
  private static final long SEED = 5;

  /** The last steps delete the writer's token, durably, which takes no space. */
  private static final int STEPS_WITHOUT_SPACE = 2;

  private static StoreOptions options() {
    return StoreOptions.defaults().withWriters(1).withReaders(0).withChunkBytes(1 << 14);
  }

  /** Counts the files that are open. */
  private static final class Counted extends ForwardingFiles {
    private int open;

    Counted(MutableFiles files) {
      super(files);
    }

    @Override
    public MutableFile open(String name, boolean writable) {
      return counted(super.open(name, writable));
    }

    @Override
    public MutableFile create(String name) {
      return counted(super.create(name));
    }

    private MutableFile counted(MutableFile opened) {
      open++;
      return new ForwardingFile(opened) {
        @Override
        public void close() {
          open--;
          super.close();
        }
      };
    }
  }

  @Test
  void aFailedCreationClosesItsFilesAndTheDirectoryCanBeUsed() {
    PowerLossFiles whole = new PowerLossFiles(Long.MAX_VALUE);
    RecordStore.create(whole, StoreModel.SCHEMA, options(), () -> {});
    long created = whole.steps();
    int repeated = 0;
    for (long step = 0; step < created; step++) {
      PowerLossFiles memory = new PowerLossFiles(Long.MAX_VALUE)
          .failingAt(step, () -> new StorageException("disk", "input/output error"));
      Counted files = new Counted(memory);
      assertThatThrownBy(() -> RecordStore.create(files, StoreModel.SCHEMA, options(), () -> {}))
          .as("step %d", step)
          .isInstanceOf(ZRecordException.class);
      assertThat(files.open).as("files open after step %d", step).isZero();
      RecordStore store;
      if (files.exists("meta.json")) {
        store = RecordStore.open(files, options(), () -> {});
      } else {
        store = RecordStore.create(files, StoreModel.SCHEMA, options(), () -> {});
        repeated++;
      }
      StoreModel model = new StoreModel(SEED, 10);
      model.next(store);
      store.close();
      assertThat(files.open).as("files open at the end, step %d", step).isZero();
    }
    assertThat(repeated).isGreaterThan((int) created / 2);
  }

  /** Readers that were stopped keep a writer from letting others in. */
  private static final class BlockedLock implements RecordStore.Lock {
    private int closed;

    @Override
    public void setReady() {
      throw new StoreLockedException("lock", "readers do not go on");
    }

    @Override
    public void close() {
      closed++;
    }
  }

  @Test
  void aStoreThatCannotLetReadersInIsClosed() {
    PowerLossFiles memory = new PowerLossFiles(Long.MAX_VALUE);
    Counted files = new Counted(memory);
    List<Consumer<RecordStore.Lock>> openings = List.of(
        lock -> RecordStore.create(files, StoreModel.SCHEMA, options(), lock),
        lock -> RecordStore.open(files, options(), lock));
    for (Consumer<RecordStore.Lock> opening : openings) {
      BlockedLock lock = new BlockedLock();
      assertThatThrownBy(() -> opening.accept(lock)).isInstanceOf(StoreLockedException.class);
      assertThat(lock.closed).isEqualTo(1);
      assertThat(files.open).isZero();
      assertThat(memory.list("")).noneMatch(name -> name.startsWith("writer-"));
      assertThat(memory.read("live", 1 << 14)[136]).isEqualTo((byte) 2);
    }
  }

  @Test
  void aRebalanceThatCannotLetReadersInClosesTheStore(@TempDir Path directory) throws IOException {
    Path path = directory.resolve("store");
    RecordStore.create(path, StoreModel.SCHEMA, StoreOptions.defaults()).close();
    try (FileChannel channel = FileChannel.open(path.resolve("lock"), StandardOpenOption.READ);
        FileLock marks = channel.lock(10, 8, true)) {
      assertThat(marks.isValid()).isTrue();
      assertThatThrownBy(
              () -> StoreRebalance.of(path, StoreRebalanceOptions.defaults()).run())
          .isInstanceOf(StoreLockedException.class);
    }
    LocalMutableFiles files = new LocalMutableFiles(path);
    assertThat(files.list("")).noneMatch(name -> name.startsWith("writer-"));
    assertThat(files.read("live", 1 << 14)[136]).isEqualTo((byte) 2);
  }

  @Test
  void aStoreThatCannotBeClosedForLackOfSpaceStaysOpen() {
    PowerLossFiles whole = new PowerLossFiles(Long.MAX_VALUE);
    RecordStore store = filled(whole);
    long first = whole.steps();
    store.close();
    int kept = 0;
    int closed = 0;
    for (long step = first; step < whole.steps() - STEPS_WITHOUT_SPACE; step++) {
      PowerLossFiles files = new PowerLossFiles(Long.MAX_VALUE);
      RecordStore open = filled(files);
      files.failingAt(step, () -> new DiskFullException("disk", "no space is left"));
      try {
        open.close();
        closed++;
      } catch (DiskFullException e) {
        assertThat(e).as("step %d", step).hasMessageContaining("close it again");
        kept++;
        // Space is there again.
        assertThat(open.pendingLength()).isEqualTo(2);
        open.append(open.newValues());
        open.close();
        open.close();
      }
      try (RecordStore again = RecordStore.open(files, options(), () -> {})) {
        assertThat(again.length()).as("step %d", step).isBetween(2L, 3L);
      }
    }
    assertThat(kept).isPositive();
    // What was committed before the space ended is in the journal.
    assertThat(closed).isGreaterThan(3);
  }

  @Test
  void aStoreWithNothingToCommitIsClosedOnAFullDisk() {
    PowerLossFiles whole = new PowerLossFiles(Long.MAX_VALUE);
    RecordStore store = committed(whole);
    long first = whole.steps();
    store.close();
    for (long step = first; step < whole.steps() - STEPS_WITHOUT_SPACE; step++) {
      PowerLossFiles files = new PowerLossFiles(Long.MAX_VALUE);
      int[] locks = {1};
      RecordStore open = committed(files, () -> locks[0]--);
      files.failingAt(step, () -> new DiskFullException("disk", "no space is left"));
      open.close();
      open.close();
      assertThat(locks[0]).as("step %d", step).isZero();
      assertThat(files.list("")).anyMatch(name -> name.startsWith("writer-"));
      try (RecordStore again = RecordStore.open(files, options(), () -> {})) {
        assertThat(again.length()).as("step %d", step).isEqualTo(2);
      }
    }
  }

  @Test
  void aStoreThatWasClosedOnAFullDiskSurvivesALossOfPowerAlsoIfNoCommitWasForced() {
    StoreOptions unforced = options().withDurability(StoreDurability.NONE);
    PowerLossFiles whole = new PowerLossFiles(Long.MAX_VALUE);
    RecordStore store = committed(whole, unforced, () -> {});
    long first = whole.steps();
    store.close();
    Random random = Budget.random();
    int closed = 0;
    for (long step = first; step < whole.steps() - STEPS_WITHOUT_SPACE; step++) {
      PowerLossFiles files = new PowerLossFiles(Long.MAX_VALUE);
      RecordStore open = committed(files, unforced, () -> {});
      files.failingAt(step, () -> new DiskFullException("disk", "no space is left"));
      try {
        open.close();
        closed++;
      } catch (DiskFullException e) {
        continue;
      }
      for (int loss = 0; loss < 20; loss++) {
        try (RecordStore again =
            RecordStore.open(files.afterPowerLoss(random), unforced, () -> {})) {
          assertThat(again.length()).as("step %d", step).isEqualTo(2);
          again.gather(new long[] {0, 1}).close();
        }
      }
    }
    assertThat(closed).isPositive();
  }

  @Test
  void aStoreIsNotChangedWithoutTheCheckpointThatTheChangeNeeds() {
    PowerLossFiles files = new PowerLossFiles(Long.MAX_VALUE);
    committed(files).close();
    StoreWriter writer = StoreRecovery.open(files, RecordStore.limits(options()));
    files.failingAt(files.steps(), () -> new DiskFullException("disk", "no space is left"));
    assertThatThrownBy(writer::closeForChange).isInstanceOf(DiskFullException.class);
  }

  private static RecordStore committed(PowerLossFiles files) {
    return committed(files, () -> {});
  }

  private static RecordStore committed(PowerLossFiles files, RecordStore.Lock lock) {
    return committed(files, options(), lock);
  }

  private static RecordStore committed(
      PowerLossFiles files, StoreOptions options, RecordStore.Lock lock) {
    RecordStore store = RecordStore.create(files, StoreModel.SCHEMA, options, lock);
    store.append(store.newValues());
    store.append(store.newValues());
    store.commit();
    return store;
  }

  /** Files of a process that is killed when it is about to publish the meta file. */
  private static final class Killed extends ForwardingFiles {
    private boolean isDead;

    Killed(MutableFiles files) {
      super(files);
    }

    private void requireLife() {
      if (isDead) {
        throw new IllegalStateException("killed");
      }
    }

    @Override
    public void replace(String name, Consumer<MutableFile> writing, Runnable lastCheck) {
      isDead |= name.equals("meta.json");
      requireLife();
      super.replace(name, writing, lastCheck);
    }

    @Override
    public boolean exists(String name) {
      requireLife();
      return super.exists(name);
    }

    @Override
    public byte[] read(String name, int maxBytes) {
      requireLife();
      return super.read(name, maxBytes);
    }

    @Override
    public void delete(String name) {
      requireLife();
      super.delete(name);
    }

    @Override
    public void delete(List<String> names, Runnable lastCheck) {
      requireLife();
      super.delete(names, lastCheck);
    }
  }

  @Test
  void recoveriesThatAreKilledLeaveOneCopyOfTheTables() {
    PowerLossFiles files = new PowerLossFiles(Long.MAX_VALUE);
    committed(files);
    Set<String> seen = new TreeSet<>();
    for (int kill = 0; kill < 4; kill++) {
      assertThatThrownBy(() -> RecordStore.open(new Killed(files), options(), () -> {}))
          .isInstanceOf(IllegalStateException.class);
      List<String> tables = tables(files);
      assertThat(tables).hasSizeLessThanOrEqualTo(4 * StoreModel.SCHEMA.fields().size());
      seen.addAll(tables);
    }
    // The first goes on with the tables that are there, the others with copies of their own.
    assertThat(seen).hasSize((1 + 3) * 2 * StoreModel.SCHEMA.fields().size());
    try (RecordStore store = RecordStore.open(files, options(), () -> {})) {
      assertThat(store.length()).isEqualTo(2);
      assertThat(tables(files))
          .hasSize(2 * StoreModel.SCHEMA.fields().size())
          .doesNotContainAnyElementsOf(seen);
    }
  }

  private static List<String> tables(PowerLossFiles files) {
    return files.list("").stream()
        .filter(name -> name.endsWith(".offset") || name.endsWith(".crc32c"))
        .toList();
  }

  /** Returns an open store with a record that is committed and one that is not. */
  private static RecordStore filled(PowerLossFiles files) {
    RecordStore store = RecordStore.create(files, StoreModel.SCHEMA, options(), () -> {});
    store.append(store.newValues());
    store.commit();
    store.append(store.newValues());
    return store;
  }
}
