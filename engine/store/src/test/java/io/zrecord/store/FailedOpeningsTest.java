package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.LiveState;
import io.zrecord.internal.store.StoreMetaFile;
import io.zrecord.internal.store.WriterBefore;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.internal.store.repair.StoreRepair;
import io.zrecord.internal.store.rewrite.StoreRewrite;
import io.zrecord.internal.store.write.StoreRecovery;
import io.zrecord.repair.DamagedValues;
import io.zrecord.testing.PowerLossFiles;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * What fails for lack of space, at any call, leaves the store as one whose tables nobody is
 * changing: the next opening needs no copies of the tables, and so no more space.
 */
final class FailedOpeningsTest {
  private static final int RECORDS = 3;

  private static StoreOptions options() {
    return StoreOptions.defaults().withWriters(1).withReaders(0).withChunkBytes(1 << 14);
  }

  private static RecordStore open(MutableFiles files) {
    return RecordStore.open(files, options(), () -> {});
  }

  private static RecordStore created(MutableFiles files) {
    RecordStore store = RecordStore.create(files, StoreModel.SCHEMA, options(), () -> {});
    for (long id = 0; id < RECORDS; id++) {
      store.append(store.newValues().set("id", id));
      store.commit();
    }
    return store;
  }

  private static void left(MutableFiles files) {
    created(files).checkpoint();
    RecordStore store = open(files);
    store.update(0, store.newValues().set("id", 0L));
    store.commit();
  }

  private static void closed(MutableFiles files) {
    created(files).close();
  }

  private static List<String> stems(MutableFiles files) {
    return StoreMetaFile.read(files).shard().fields().stream()
        .map(FieldMeta::stem)
        .toList();
  }

  private static void requireRecords(RecordStore store, String description) {
    assertThat(store.length()).as(description).isEqualTo(RECORDS);
    for (long id = 0; id < RECORDS; id++) {
      try (var batch = store.gather(new long[] {id}, "id")) {
        assertThat(batch.value("id", 0).getLong()).as(description).isEqualTo(id);
      }
    }
  }

  /** Requires that the store is opened with the tables that it has after each failure. */
  private static void requireNoCopies(
      Consumer<MutableFiles> making,
      Consumer<MutableFiles> failing,
      Consumer<MutableFiles> beforeNextOpening) {
    PowerLossFiles whole = new PowerLossFiles(Long.MAX_VALUE);
    making.accept(whole);
    long first = whole.steps();
    failing.accept(whole);
    int failed = 0;
    for (long step = first; step < whole.steps(); step++) {
      PowerLossFiles files = new PowerLossFiles(Long.MAX_VALUE);
      making.accept(files);
      files.failingAt(step, () -> new DiskFullException("disk", "no space is left"));
      try {
        failing.accept(files);
      } catch (ZRecordException e) {
        failed++;
      }
      List<String> stems = stems(files);
      beforeNextOpening.accept(files);
      try (RecordStore again = open(files)) {
        assertThat(stems(files)).as("step %d", step).isEqualTo(stems);
        requireRecords(again, "step " + step);
      }
    }
    assertThat(failed).isGreaterThan(5);
  }

  @Test
  void anOpeningOfAStoreThatWasLeft() {
    requireNoCopies(FailedOpeningsTest::left, files -> open(files).close(), files -> {});
  }

  @Test
  void anOpeningOfAStoreThatWasClosed() {
    requireNoCopies(FailedOpeningsTest::closed, files -> open(files).close(), files -> {});
  }

  @Test
  void aRewrite() {
    requireNoCopies(
        FailedOpeningsTest::closed,
        files -> {
          WriterToken writer =
              StoreRecovery.open(files, RecordStore.limits(options())).closeForChange();
          StoreRewrite.Layout layout = new StoreRewrite.Layout(1 << 14, 1 << 14);
          new StoreRewrite(files, writer, StoreModel.SCHEMA.fields(), layout, bytes -> {}).run();
        },
        files -> {});
  }

  @Test
  void aRepair() {
    requireNoCopies(
        files -> {
          left(files);
          try (MutableFile journal = files.open("journal", true)) {
            // The last commit, which changes nothing.
            journal.write(64 + 50, ByteBuffer.wrap(new byte[] {-1, -1, -1, -1}));
          }
        },
        FailedOpeningsTest::repair,
        FailedOpeningsTest::repair);
  }

  private static void repair(MutableFiles files) {
    new StoreRepair(files, DamagedValues.KEEP, move -> {}).run(finding -> {}, plan -> true);
  }

  /** The writer before may still be changing the tables. */
  @Test
  void anOpeningOfAStoreThatWasLeftInsideAChangeStillNeedsCopies() {
    PowerLossFiles whole = new PowerLossFiles(Long.MAX_VALUE);
    leftInside(whole);
    long first = whole.steps();
    open(whole);
    int copied = 0;
    for (long step = first; step < whole.steps(); step++) {
      PowerLossFiles files = new PowerLossFiles(Long.MAX_VALUE);
      leftInside(files);
      List<String> stems = stems(files);
      files.failingAt(step, () -> new DiskFullException("disk", "no space is left"));
      try {
        open(files);
      } catch (DiskFullException e) {
        copied++;
      }
      try (RecordStore again = open(files)) {
        assertThat(stems(files)).as("step %d", step).doesNotContainAnyElementsOf(stems);
        requireRecords(again, "step " + step);
      }
    }
    assertThat(copied).isGreaterThan(10);
  }

  /** The other comes at each call of the opening. */
  @Test
  void anOpeningThatAnotherReplacesDoesNotSayThatTheWriterBeforeWasOutside() {
    boolean isReplaced = true;
    int replaced = 0;
    for (int step = 0; isReplaced; step++) {
      PowerLossFiles files = new PowerLossFiles(Long.MAX_VALUE);
      leftInside(files);
      List<String> stems = stems(files);
      int[] left = {step};
      List<WriterToken> other = new ArrayList<>();
      try {
        open(new WatchedFiles(files, (call, name) -> {
          if (left[0]-- == 0) {
            other.add(WriterToken.take(files));
          }
        }));
      } catch (ZRecordException e) {
        assertThat(other).as("step %d", step).hasSize(1);
      }
      isReplaced = !other.isEmpty();
      if (isReplaced && stems(files).equals(stems)) {
        replaced++;
        UUID id = StoreMetaFile.read(files).shard().id();
        assertThat(LiveState.writerBefore(files, id, other.get(0)))
            .as("step %d", step)
            .isEqualTo(WriterBefore.LEFT_INSIDE);
      }
    }
    assertThat(replaced).isGreaterThan(10);
  }

  private static void leftInside(MutableFiles files) {
    left(files);
    try (MutableFile live = files.open("live", true)) {
      live.write(136, ByteBuffer.wrap(new byte[] {1}));
    }
  }
}
