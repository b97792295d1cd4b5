package io.zrecord.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.DatasetExistsException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.Budget;
import io.zrecord.testing.ForwardingFiles;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.MemoryStorage;
import io.zrecord.testing.PowerLossFiles;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies of stores that are open. */
final class StoreCopyTest {
  private static final long SEED = Budget.seed();
  private static final int LENGTH = 300;
  private static final int COPIES = Math.max(2, Budget.of(10));

  /** A store grows while a copy is made, and the next copy takes longer. */
  private static final int COPIES_OF_A_STORE = 4;

  private static final int COPIES_OF_THE_CONTROL = 200;

  @TempDir
  Path directory;

  private static StoreOptions options() {
    return StoreOptions.defaults()
        .withDurability(StoreDurability.NONE)
        .withChunkBytes(1 << 16)
        .withCheckpointBytes(1 << 16);
  }

  /** A store with a thread that changes it all the time. */
  private final class Written implements AutoCloseable {
    final Path path = directory.resolve("written-" + UUID.randomUUID());
    final AtomicLong begun = new AtomicLong();
    final AtomicLong committed = new AtomicLong();
    private final AtomicBoolean isOver = new AtomicBoolean();
    private final AtomicBoolean isPaused = new AtomicBoolean();
    private final Thread thread = new Thread(this::write);
    private volatile @Nullable Throwable failure;

    Written() {
      RecordStore.create(path, StoreModel.SCHEMA, options()).close();
      thread.start();
    }

    private void write() {
      StoreModel model = new StoreModel(SEED, LENGTH);
      try (RecordStore store = RecordStore.open(path, options())) {
        while (!isOver.get()) {
          if (isPaused.get()) {
            Thread.onSpinWait();
            continue;
          }
          begun.incrementAndGet();
          model.next(store);
          store.commit();
          committed.incrementAndGet();
        }
      } catch (Throwable e) {
        failure = e;
        committed.set(Long.MAX_VALUE);
      }
    }

    /** Lets the thread wait, so that what is looked at does not fall behind more and more. */
    void pause() {
      isPaused.set(true);
    }

    void awaitCommits(long more) {
      isPaused.set(false);
      long until = committed.get() + more;
      while (committed.get() < until) {
        Thread.onSpinWait();
      }
      assertThat(failure).isNull();
    }

    @Override
    public void close() {
      isOver.set(true);
      try {
        thread.join();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      assertThat(failure).isNull();
    }
  }

  /** Tells what is wrong with a copy that has some number of operations. */
  private static @Nullable String problem(Path copy, long least, long most) {
    try (RecordStore store = RecordStore.open(copy, options())) {
      StoreModel model = new StoreModel(SEED, LENGTH);
      String difference = null;
      while (model.operationCount() <= most) {
        if (model.operationCount() >= least && model.length() == store.length()) {
          difference = model.differenceFrom(store);
          if (difference == null) {
            return null;
          }
        }
        model.next(null);
      }
      return difference == null ? "length " + store.length() : difference;
    } catch (ZRecordException e) {
      return e.toString();
    }
  }

  @Test
  void aCopyOfAStoreThatIsWrittenHasTheRecordsOfOneCommit() {
    for (int made = 0; made < COPIES; made += COPIES_OF_A_STORE) {
      copyWhileWritten(Math.min(COPIES_OF_A_STORE, COPIES - made));
    }
  }

  private void copyWhileWritten(int copies) {
    try (Written written = new Written()) {
      written.awaitCommits(LENGTH);
      for (int i = 0; i < copies; i++) {
        Path copy = directory.resolve("copy-" + UUID.randomUUID());
        long least = written.committed.get();
        long records = RecordStore.copy(written.path, LocalStorage.at(copy));
        long most = written.begun.get();
        written.pause();
        assertThat(DatasetCheck.of(copy.toString()).run(finding -> {}).isSound())
            .isTrue();
        assertThat(problem(copy, least, most)).as("from %d to %d", least, most).isNull();
        assertThat(records).isPositive();
        written.awaitCommits(LENGTH / 10);
      }
    }
  }

  @Test
  void aCopyLeavesWhatAnotherCopyIsMaking() {
    Path store = directory.resolve("store");
    RecordStore.create(store, StoreModel.SCHEMA, options()).close();
    Storage target = new MemoryStorage();
    AtomicLong others = new AtomicLong();
    RecordStore.copy(store, new ForwardingStorage(target) {
      @Override
      public boolean publish(String name, byte[] content) {
        boolean isFirst = super.publish(name, content);
        assertThatThrownBy(() -> RecordStore.copy(store, target))
            .isInstanceOf(DatasetExistsException.class);
        others.incrementAndGet();
        return isFirst;
      }
    });
    assertThat(others).hasValueGreaterThan(1);
    assertThat(target.list(""))
        .extracting(StoredFile::name)
        .contains("meta.json", "journal", "live")
        .doesNotContain("copying");
  }

  /** The next copy takes the target as soon as the files of the failed one are gone. */
  @Test
  void aCopyThatFailsAtItsEndLeavesTheClaimOfTheNext() {
    Path store = directory.resolve("store");
    RecordStore.create(store, StoreModel.SCHEMA, options()).close();
    Storage target = new MemoryStorage();
    byte[] other = "another copy".getBytes(UTF_8);
    AtomicBoolean isNext = new AtomicBoolean(true);
    assertThatThrownBy(() -> RecordStore.copy(store, new ForwardingStorage(target) {
          @Override
          public boolean publish(String name, byte[] content) {
            if (name.equals("meta.json")) {
              throw new StorageException(name, "no answer");
            }
            return super.publish(name, content);
          }

          @Override
          public void delete(String name) {
            super.delete(name);
            if (target.list("").isEmpty() && isNext.getAndSet(false)) {
              target.publish("copying", other);
            }
          }
        }))
        .isInstanceOf(StorageException.class);
    assertThat(isNext).isFalse();
    assertThat(target.list("")).extracting(StoredFile::name).containsExactly("copying");
    assertThat(target.read("copying", 100)).isEqualTo(other);
  }

  @Test
  void aCopyThatCannotListItsTargetLeavesNoClaim() {
    Path store = directory.resolve("store");
    RecordStore.create(store, StoreModel.SCHEMA, options()).close();
    Storage target = new MemoryStorage();
    assertThatThrownBy(() -> RecordStore.copy(store, new ForwardingStorage(target) {
          @Override
          public List<StoredFile> list(String name) {
            throw new StorageException(name, "no answer");
          }
        }))
        .isInstanceOf(StorageException.class);
    assertThat(target.list("")).isEmpty();
    assertThat(RecordStore.copy(store, target)).isZero();
  }

  @Test
  void copiesOfTheFilesAreRecognizedAndWrong() throws Exception {
    int wrong = 0;
    try (Written written = new Written()) {
      written.awaitCommits(LENGTH);
      for (int i = 0; i < COPIES_OF_THE_CONTROL && wrong == 0; i++) {
        Path copy = directory.resolve("copy-" + i);
        long least = written.committed.get();
        copyFiles(written.path, copy);
        long most = written.begun.get();
        written.pause();
        assertThatThrownBy(() -> RecordStore.open(copy, options()))
            .isInstanceOf(CorruptDataException.class)
            .hasMessageContaining("zrecord backup");
        assertThatThrownBy(() -> StoreReader.open(copy)).isInstanceOf(CorruptDataException.class);
        assertThatThrownBy(() -> RecordStore.copy(copy, new MemoryStorage()))
            .isInstanceOf(CorruptDataException.class);
        LocalMutableFiles files = new LocalMutableFiles(copy);
        files.list("").stream().filter(name -> name.startsWith("writer-")).forEach(files::delete);
        wrong += problem(copy, least, most) == null ? 0 : 1;
        written.awaitCommits(LENGTH / 10);
      }
    }
    assertThat(wrong).isPositive();
  }

  /** Files with numbers as a file system gives them; none where they may change. */
  private static final class Numbered extends ForwardingFiles {
    private Optional<String> number = Optional.of("18446744073709551615");

    Numbered(MutableFiles files) {
      super(files);
    }

    @Override
    public Optional<String> identityOf(String name) {
      return number;
    }
  }

  @Test
  void aStoreIsNoCopyWhereFilesMayGetOtherNumbers() {
    Numbered files = new Numbered(new PowerLossFiles(Long.MAX_VALUE));
    RecordStore.create(files, StampedRecords.SCHEMA, options(), () -> {});
    assertThat(WriterToken.isOfCopy(files)).isFalse();
    files.number = Optional.of("9223372036854775808");
    assertThat(WriterToken.isOfCopy(files)).isTrue();
    files.number = Optional.empty();
    assertThat(WriterToken.isOfCopy(files)).isFalse();
    RecordStore.open(files, options(), () -> {});
    files.number = Optional.of("1");
    assertThat(WriterToken.isOfCopy(files)).isFalse();
  }

  @Test
  void bytesThatALossOfPowerLeftInATokenSayNothing() {
    Numbered files = new Numbered(new PowerLossFiles(Long.MAX_VALUE));
    RecordStore.create(files, StampedRecords.SCHEMA, options(), () -> {});
    String token = files.list("").stream()
        .filter(name -> name.startsWith("writer-"))
        .findFirst()
        .orElseThrow();
    files.replace(token, new byte[20]);
    assertThat(WriterToken.isOfCopy(files)).isFalse();
    RecordStore.open(files, options(), () -> {}).close();
  }

  private static void copyFiles(Path from, Path to) throws IOException {
    Files.walkFileTree(from, new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult visitFile(Path path, BasicFileAttributes attributes)
          throws IOException {
        Path copy = to.resolve(from.relativize(path).toString());
        Files.createDirectories(copy.getParent());
        // Reading the lock would take it from the writer, which is in this process.
        if (!path.endsWith("lock")) {
          try {
            Files.copy(path, copy);
          } catch (NoSuchFileException e) {
            return FileVisitResult.CONTINUE; // A temporary file.
          }
        }
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFileFailed(Path path, IOException e) throws IOException {
        if (e instanceof NoSuchFileException) {
          return FileVisitResult.CONTINUE;
        }
        throw e;
      }
    });
  }

  @Test
  void aRepairAcceptsACopyOfWhichItsUserKnowsThatNobodyWrote() throws Exception {
    Path path = directory.resolve("store");
    StoreModel model = new StoreModel(SEED, LENGTH);
    Path copy = directory.resolve("copy");
    try (RecordStore store = RecordStore.create(path, StoreModel.SCHEMA, options())) {
      for (int i = 0; i < LENGTH; i++) {
        model.next(store);
      }
      store.commit();
      copyFiles(path, copy);
    }
    assertThat(DatasetCheck.of(copy.toString()).run(finding -> {}).isSound()).isFalse();
    assertThat(
            DatasetRepair.of(copy.toString()).run(finding -> {}, plan -> true).isDone())
        .isTrue();
    assertThat(problem(copy, LENGTH, LENGTH)).isNull();
  }

  @Test
  void aStoreIsCopiedToAnyStorageAndBack() throws IOException {
    Path path = directory.resolve("store");
    StoreModel model = new StoreModel(SEED, LENGTH);
    Storage remote = new MemoryStorage();
    try (RecordStore store = RecordStore.create(path, StoreModel.SCHEMA, options())) {
      for (int i = 0; i < LENGTH; i++) {
        model.next(store);
      }
      store.commit();
      assertThat(RecordStore.copy(path, remote)).isEqualTo(model.length());
      assertThat(store.copyTo(directory.resolve("local"))).isEqualTo(model.length());
      assertThatThrownBy(() -> store.copyTo(directory.resolve("local")))
          .isInstanceOf(DatasetExistsException.class);
    }
    Path back = directory.resolve("back");
    for (StoredFile file : remote.listTree("")) {
      Path target = back.resolve(file.name());
      Files.createDirectories(target.getParent());
      Files.write(target, remote.read(file.name(), 1 << 24));
    }
    assertThat(problem(back, LENGTH, LENGTH)).isNull();
    assertThat(problem(directory.resolve("local"), LENGTH, LENGTH)).isNull();
    try (StoreReader reader = StoreReader.open(back)) {
      assertThat(model.differenceFrom(reader)).isNull();
    }
    // A copy goes on as a store.
    try (RecordStore store = RecordStore.open(back, options())) {
      model.next(store);
      store.commit();
      assertThat(model.differenceFrom(store)).isNull();
    }
  }

  @Test
  void whatIsNoStoreIsNotCopiedAndNothingIsLeft() throws IOException {
    Path target = directory.resolve("target");
    assertThatThrownBy(
            () -> RecordStore.copy(directory.resolve("nothing"), LocalStorage.at(target)))
        .isInstanceOf(NotADatasetException.class);
    Path path = directory.resolve("store");
    StoreModel model = new StoreModel(SEED, LENGTH);
    try (RecordStore store = RecordStore.create(path, StoreModel.SCHEMA, options())) {
      for (int i = 0; i < LENGTH; i++) {
        model.next(store);
      }
    }
    Files.delete(path.resolve("chunk/0.zr"));
    assertThatThrownBy(() -> RecordStore.copy(path, LocalStorage.at(target)))
        .isInstanceOf(ZRecordException.class)
        .hasMessageContaining("0.zr");
    if (Files.exists(target)) {
      try (Stream<Path> left = Files.list(target)) {
        assertThat(left).isEmpty();
      }
    }
  }
}
