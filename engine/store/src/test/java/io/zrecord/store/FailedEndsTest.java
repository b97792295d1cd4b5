package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.write.StoreRecovery;
import io.zrecord.internal.store.write.StoreWriter;
import io.zrecord.testing.ForwardingFile;
import io.zrecord.testing.ForwardingFiles;
import io.zrecord.testing.PowerLossFiles;
import org.junit.jupiter.api.Test;

/** Creations and closings of stores that fail at any call. */
final class FailedEndsTest {
  private static final long SEED = 5;

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

  @Test
  void aStoreThatCannotBeClosedForLackOfSpaceStaysOpen() {
    PowerLossFiles whole = new PowerLossFiles(Long.MAX_VALUE);
    RecordStore store = filled(whole);
    long first = whole.steps();
    store.close();
    int kept = 0;
    int closed = 0;
    // The last step deletes the writer's token, which takes no space.
    for (long step = first; step < whole.steps() - 1; step++) {
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
    for (long step = first; step < whole.steps() - 1; step++) {
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
    RecordStore store = RecordStore.create(files, StoreModel.SCHEMA, options(), lock);
    store.append(store.newValues());
    store.append(store.newValues());
    store.commit();
    return store;
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
