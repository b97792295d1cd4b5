package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.StoreLockedException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.WriterReplacedException;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** On real files: a writer whose lock or whose files are gone acknowledges nothing. */
final class LostLockTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("id", ElementType.I64).build();

  @TempDir
  Path directory;

  private Path path;

  @BeforeEach
  void createStore() {
    path = directory.resolve("store");
    RecordStore.create(path, SCHEMA, StoreOptions.defaults()).close();
  }

  /** Opens the store as a process does that got the lock which another has lost. */
  private RecordStore openWithoutLock() {
    return RecordStore.open(new LocalMutableFiles(path), StoreOptions.defaults(), () -> {});
  }

  private static void append(RecordStore store, long id) {
    store.append(store.newValues().set("id", id));
    store.commit();
  }

  private static long last(RecordStore store) {
    try (Batch batch = store.gather(new long[] {store.length() - 1})) {
      return batch.value("id", 0).getLong();
    }
  }

  private List<String> tokens() {
    return new LocalMutableFiles(path)
        .list("").stream().filter(name -> name.startsWith("writer-")).toList();
  }

  @Test
  void theFirstWriterAcknowledgesNothingOnceASecondHasTheStore() {
    RecordStore first = openWithoutLock();
    append(first, 1);
    // Readers see that there is a writer.
    ProcessLock lock = ProcessLock.acquire(path);
    lock.setReady();
    try (RecordStore second = openWithoutLock();
        StoreReader reader = StoreReader.open(path)) {
      assertThat(last(second)).isEqualTo(1);
      append(second, 2);
      assertThatThrownBy(() -> append(first, 3))
          .isInstanceOf(WriterReplacedException.class)
          .hasMessageContaining(path.toString())
          .hasMessageContaining("zrecord backup");
      assertThatThrownBy(() -> append(first, 4)).isInstanceOf(WriterReplacedException.class);
      assertThatThrownBy(() -> last(first)).isInstanceOf(WriterReplacedException.class);
      first.close();
      append(second, 5);
      assertThat(reader.length()).isEqualTo(3);
    } finally {
      lock.close();
    }
    try (RecordStore third = RecordStore.open(path, StoreOptions.defaults())) {
      assertThat(third.length()).isEqualTo(3);
      assertThat(last(third)).isEqualTo(5);
      assertThat(tokens()).hasSize(1);
    }
    assertThat(tokens()).isEmpty();
  }

  @Test
  void anInterruptDoesNotLeadTheFirstWriterToTheJournalOfTheSecond() {
    RecordStore first = openWithoutLock();
    append(first, 1);
    RecordStore second = openWithoutLock();
    append(second, 2);
    append(second, 3);
    // It closes the channel of the journal, which is opened again by its name.
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> append(first, 4)).isInstanceOf(WriterReplacedException.class);
    assertThat(Thread.interrupted()).isTrue();
    first.close();
    try (RecordStore third = openWithoutLock()) {
      assertThat(third.length()).isEqualTo(3);
      assertThat(last(third)).isEqualTo(3);
    }
    assertThatThrownBy(second::close).isInstanceOf(WriterReplacedException.class);
  }

  @Test
  void aReaderFollowsFromTheWriterThatLostTheStoreToTheOther() {
    RecordStore first = openWithoutLock();
    append(first, 1);
    // The first still has the lock of the system, as far as readers see.
    ProcessLock lock = ProcessLock.acquire(path);
    lock.setReady();
    try (StoreReader reader = StoreReader.open(path)) {
      assertThat(reader.length()).isEqualTo(1);
      RecordStore second = openWithoutLock();
      append(second, 2);
      assertThat(reader.length()).isEqualTo(2);
      try (Batch batch = reader.gather(new long[] {1})) {
        assertThat(batch.value("id", 0).getLong()).isEqualTo(2);
      }
      second.close();
    } finally {
      lock.close();
    }
  }

  @Test
  void closingAStoreThatAnotherHasSaysThatNothingWasCommitted() {
    RecordStore first = openWithoutLock();
    first.append(first.newValues().set("id", 1));
    try (RecordStore second = openWithoutLock()) {
      append(second, 2);
      assertThatThrownBy(first::close).isInstanceOf(WriterReplacedException.class);
      append(second, 3);
      assertThat(second.length()).isEqualTo(2);
    }
  }

  @Test
  void nothingIsAcknowledgedInADirectoryThatWasMovedOrDeleted() throws IOException {
    RecordStore store = RecordStore.open(path, StoreOptions.defaults());
    append(store, 1);
    Files.move(path, directory.resolve("elsewhere"));
    assertThatThrownBy(() -> append(store, 2)).isInstanceOf(WriterReplacedException.class);
  }

  @Test
  void nothingIsAcknowledgedInAJournalThatWasCut() throws IOException {
    RecordStore store = RecordStore.open(path, StoreOptions.defaults());
    append(store, 1);
    try (RandomAccessFile journal = new RandomAccessFile(path.resolve("journal").toFile(), "rw")) {
      journal.setLength(64);
    }
    assertThatThrownBy(() -> append(store, 2))
        .isInstanceOf(TruncatedFileException.class)
        .hasMessageContaining("journal");
    store.close();
  }

  @Test
  void theLockIsKeptWhenAProgramReplacesAllSystemProperties() {
    Properties before = System.getProperties();
    try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
      append(store, 1);
      System.setProperties(new Properties());
      try (StoreReader reader = StoreReader.open(path)) {
        assertThat(reader.length()).isEqualTo(1);
      }
      assertThatThrownBy(() -> RecordStore.open(path, StoreOptions.defaults()))
          .isInstanceOf(StoreLockedException.class);
      append(store, 2);
    } finally {
      System.setProperties(before);
    }
    RecordStore.open(path, StoreOptions.defaults()).close();
  }

  @Test
  void aFileIsOpenedAgainByItsNameOnlyWhileItsWriterIsTheWriter() {
    LocalMutableFiles files = new LocalMutableFiles(path);
    files.beginWriting(() -> {
      throw new WriterReplacedException("store", "replaced");
    });
    try (MutableFile file = files.open("journal", true)) {
      long lengthBytes = file.lengthBytes();
      Thread.currentThread().interrupt();
      // The file is the same, as far as its number says.
      assertThatThrownBy(() -> file.write(lengthBytes, ByteBuffer.allocate(8)))
          .isInstanceOf(WriterReplacedException.class);
      assertThat(Thread.interrupted()).isTrue();
      assertThat(path.resolve("journal")).hasSize(lengthBytes);
    }
    files.endWriting();
  }

  @Test
  void aDeletionThatAnotherDroppedFailsAndLeavesTheFiles() {
    LocalMutableFiles files = new LocalMutableFiles(path);
    files.delete(List.of("journal", "live"), () -> {});
    assertThat(files.list("")).doesNotContain("journal", "live").contains("meta.json");
    for (boolean isWriter : new boolean[] {true, false}) {
      if (isWriter) {
        files.beginWriting(() -> {});
      }
      assertThatThrownBy(() -> files.delete(
              List.of("meta.json", "chunk"), new LocalMutableFiles(path)::dropReplacements))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("another program deleted");
      assertThat(files.list("")).contains("meta.json");
      files.endWriting();
    }
    files.delete(List.of("absent", "meta.json", "chunk"), () -> {});
    assertThat(files.list("")).containsExactlyInAnyOrder("lock", "id.offset", "id.crc32c");
  }

  @Test
  void aReplacementThatAnotherDroppedFailsAndLeavesTheFile() throws IOException {
    LocalMutableFiles files = new LocalMutableFiles(path);
    byte[] meta = Files.readAllBytes(path.resolve("meta.json"));
    assertThatThrownBy(() ->
            files.replace("meta.json", new byte[10], new LocalMutableFiles(path)::dropReplacements))
        .isInstanceOf(MissingFileException.class);
    assertThat(Files.readAllBytes(path.resolve("meta.json"))).isEqualTo(meta);
    assertThat(files.list("")).noneMatch(name -> name.endsWith(".tmp"));
  }
}
