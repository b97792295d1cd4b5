package io.zrecord.store;

import static io.zrecord.store.StoresWithoutLock.SCHEMA;
import static io.zrecord.store.StoresWithoutLock.append;
import static io.zrecord.store.StoresWithoutLock.open;
import static io.zrecord.store.StoresWithoutLock.requireFailure;
import static io.zrecord.store.StoresWithoutLock.values;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.WriterReplacedException;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.repair.StoreRepair;
import io.zrecord.repair.DamagedValues;
import io.zrecord.testing.ForwardingFile;
import io.zrecord.testing.ForwardingFiles;
import io.zrecord.verify.Damage;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiPredicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three writers of one store, of which the first was stopped and has lost its lock: the first goes
 * on when the second or the third has come. What any of them acknowledged is there.
 */
final class ThreeWritersTest {
  @TempDir
  Path directory;

  /** Stops a writer once, before the call that a test chooses. */
  private static final class Stop {
    private volatile BiPredicate<String, String> isAt;
    private final Semaphore isStopped = new Semaphore(0);
    private final Semaphore goesOn = new Semaphore(0);
    private volatile boolean isSet = true;

    /**
     * Makes a stop.
     *
     * @param isAt takes a call and the name of a file
     */
    Stop(BiPredicate<String, String> isAt) {
      this.isAt = isAt;
    }

    void at(String call, String name) {
      if (isSet && isAt.test(call, name)) {
        isSet = false;
        isStopped.release();
        goesOn.acquireUninterruptibly();
      }
    }
  }

  private static final class StoppingFiles extends ForwardingFiles {
    private final Stop stop;

    StoppingFiles(MutableFiles files, Stop stop) {
      super(files);
      this.stop = stop;
    }

    @Override
    public List<String> list(String place) {
      List<String> names = super.list(place);
      stop.at("listed", place);
      return names;
    }

    @Override
    public MutableFile open(String name, boolean writable) {
      stop.at(writable ? "open" : "read", name);
      return stopping(name, super.open(name, writable));
    }

    @Override
    public MutableFile create(String name) {
      MutableFile file = super.create(name);
      stop.at("created", name);
      return stopping(name, file);
    }

    private MutableFile stopping(String name, MutableFile file) {
      return new ForwardingFile(file) {
        @Override
        public void write(long position, ByteBuffer source) {
          stop.at("write", name);
          super.write(position, source);
        }
      };
    }
  }

  private LocalMutableFiles files() {
    return new LocalMutableFiles(directory.resolve("store"));
  }

  private RecordStore create(long... values) {
    RecordStore store = RecordStore.create(
        directory.resolve("store"), SCHEMA, StoreOptions.defaults().withWriters(1));
    LongStream.of(values).forEach(value -> append(store, value));
    return store;
  }

  /** It must not take away what tells the third that there was a second. */
  @Test
  void aFirstThatGoesOnBeforeTheThirdComesLeavesTheFileOfTheSecond() {
    create().close();
    Stop first = new Stop((call, name) -> call.equals("created") && name.startsWith("writer-"));
    CompletableFuture<Void> one =
        CompletableFuture.runAsync(() -> open(new StoppingFiles(files(), first)));
    first.isStopped.acquireUninterruptibly();
    Stop second = new Stop((call, name) -> call.equals("write") && name.equals("journal"));
    second.isSet = false;
    RecordStore two = open(new StoppingFiles(files(), second));
    append(two, 1);
    second.isSet = true;
    CompletableFuture<Void> commit = CompletableFuture.runAsync(() -> append(two, 2));
    second.isStopped.acquireUninterruptibly();
    first.goesOn.release();
    requireFailure(one, WriterReplacedException.class);
    RecordStore three = open(files());
    for (long value = 100; value < 103; value++) {
      append(three, value);
    }
    second.goesOn.release();
    requireFailure(commit, WriterReplacedException.class);
    assertThat(values(three)).containsExactly(1L, 100L, 101L, 102L);
    // The third is killed.
    assertThat(values(open(files()))).containsExactly(1L, 100L, 101L, 102L);
  }

  /** The first and the second find the file of the other, and delete it. */
  @Test
  void twoThatDeleteTheFilesOfEachOtherLeaveOneToTheThird() {
    create().close();
    Stop first = new Stop((call, name) -> call.equals("created") && name.startsWith("writer-"));
    List<RecordStore> opened = new ArrayList<>();
    StoppingFiles files = new StoppingFiles(files(), first);
    CompletableFuture<Void> one = CompletableFuture.runAsync(() -> opened.add(open(files)));
    first.isStopped.acquireUninterruptibly();
    AtomicBoolean isCreated = new AtomicBoolean();
    Stop second = new Stop((call, name) -> {
      isCreated.compareAndSet(false, call.equals("created"));
      return isCreated.get() && call.equals("listed");
    });
    CompletableFuture<Void> two =
        CompletableFuture.runAsync(() -> open(new StoppingFiles(files(), second)));
    second.isStopped.acquireUninterruptibly();
    // The first finds the file of the second, deletes it, and opens the store.
    first.goesOn.release();
    one.join();
    first.isAt = (call, name) -> call.equals("write") && name.equals("journal");
    first.isSet = true;
    CompletableFuture<Void> commit = CompletableFuture.runAsync(() -> append(opened.get(0), 1));
    first.isStopped.acquireUninterruptibly();
    second.goesOn.release();
    requireFailure(two, WriterReplacedException.class);
    RecordStore three = open(files());
    append(three, 100);
    append(three, 101);
    first.goesOn.release();
    requireFailure(commit, WriterReplacedException.class);
    assertThat(values(three)).containsExactly(100L, 101L);
    // The third is killed.
    assertThat(values(open(files()))).containsExactly(100L, 101L);
  }

  /** The second fails for lack of space, deletes its copies, and the third has the names again. */
  @Test
  void aFirstThatOpensItsCopiesByNameDoesNotChangeThoseOfTheThird() {
    RecordStore killed = create(0, 1, 2, 3);
    killed.checkpoint();
    try (MutableFile live = files().open("live", true)) {
      // It was killed inside a change of the tables.
      live.write(136, ByteBuffer.wrap(new byte[] {1}));
    }
    Stop first =
        new Stop((call, name) -> call.equals("open") && name.matches("field-\\d+-1\\.offset"));
    CompletableFuture<Void> one =
        CompletableFuture.runAsync(() -> open(new StoppingFiles(files(), first)));
    first.isStopped.acquireUninterruptibly();
    assertThatThrownBy(() -> open(new FullFiles(files()))).isInstanceOf(DiskFullException.class);
    RecordStore three = open(files());
    three.update(0, three.newValues().set("x", 1000L));
    three.commit();
    three.checkpoint();
    first.goesOn.release();
    requireFailure(one, WriterReplacedException.class);
    assertThat(values(three)).containsExactly(1000L, 1L, 2L, 3L);
    three.close();
    assertThat(values(open(files()))).containsExactly(1000L, 1L, 2L, 3L);
  }

  /** Has no space for the tables of copies. */
  private static final class FullFiles extends ForwardingFiles {
    FullFiles(MutableFiles files) {
      super(files);
    }

    @Override
    public MutableFile open(String name, boolean writable) {
      MutableFile file = super.open(name, writable);
      return writable && name.matches("field-\\d+-\\d+\\.offset")
          ? new ForwardingFile(file) {
            @Override
            public void write(long position, ByteBuffer source) {
              throw new DiskFullException(name, "no space");
            }
          }
          : file;
    }
  }

  @Test
  void aRepairThatGoesOnDoesNotCutTheJournalOfAnother() {
    RecordStore killed = create(0, 1, 2, 3);
    assertThat(killed.length()).isEqualTo(4);
    Path journal = directory.resolve("store/journal");
    long record = (journal.toFile().length() - 64) / 4;
    Damage.flip(journal, 64 + record + 40);
    Stop first = new Stop((call, name) -> call.equals("open") && name.equals("journal"));
    CompletableFuture<Void> one =
        CompletableFuture.runAsync(() -> repair(new StoppingFiles(files(), first)));
    first.isStopped.acquireUninterruptibly();
    repair(files());
    RecordStore three = open(files());
    List<Long> before = values(three);
    for (long value = 100; value < 104; value++) {
      append(three, value);
    }
    first.goesOn.release();
    requireFailure(one, WriterReplacedException.class);
    // The third is killed.
    List<Long> after = values(open(files()));
    assertThat(after).hasSize(before.size() + 4).endsWith(100L, 101L, 102L, 103L);
  }

  private static void repair(MutableFiles files) {
    new StoreRepair(files, DamagedValues.KEEP, move -> {}).run(finding -> {}, plan -> true);
  }
}
