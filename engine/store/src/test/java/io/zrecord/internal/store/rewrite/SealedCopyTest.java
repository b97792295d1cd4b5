package io.zrecord.internal.store.rewrite;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreOptions;
import io.zrecord.testing.ForwardingStorage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Copies that fail, and then fail to clean up as well: the first failure is thrown and has the
 * others, nothing stays open, and what was made goes as far as it may.
 */
final class SealedCopyTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("id", ElementType.I64)
      .field("text", ElementType.UTF8)
      .build();

  @TempDir
  Path directory;

  private Path store;
  private Path table;

  @BeforeEach
  void createStore() {
    store = directory.resolve("store");
    table = directory.resolve("table");
    try (RecordStore opened = RecordStore.create(store, SCHEMA, StoreOptions.defaults())) {
      for (long i = 0; i < 10; i++) {
        opened.append(opened.newValues().set("id", i).set("text", "record " + i));
      }
    }
  }

  private List<Path> chunks() throws IOException {
    try (Stream<Path> found = Files.list(store.resolve("chunk"))) {
      return found.toList();
    }
  }

  /** Returns the files below the test's directory that this process has open. */
  private List<Path> open() throws IOException {
    List<Path> open = new ArrayList<>();
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      for (Path descriptor : descriptors.toList()) {
        try {
          Path file = Files.readSymbolicLink(descriptor);
          if (file.startsWith(directory.toRealPath())) {
            open.add(file);
          }
        } catch (IOException e) {
          // It was closed meanwhile.
        }
      }
    } catch (IOException e) {
      assumeTrue(false, "this system does not say what is open");
    }
    return open;
  }

  private static void refuse() {
    throw new IllegalStateException("another has come");
  }

  @Test
  void theFirstFailureIsThrownAndHasThatOfTheLastCheck() throws IOException {
    Files.delete(chunks().get(0));
    Throwable failure =
        catchThrowable(() -> SealedCopy.write(store, table, true, SealedCopyTest::refuse));
    assertThat(failure).isInstanceOf(MissingFileException.class).hasMessageContaining("chunk");
    assertThat(failure.getSuppressed()).hasSize(1);
    assertThat(failure.getSuppressed()[0]).hasMessage("another has come");
    assertThat(open()).isEmpty();
    // The check says that the shard may be another's.
    assertThat(new LocalMutableFiles(table).list("shard")).hasSize(1);
  }

  @Test
  void aShardThatFailedIsRemovedAndMayBeMadeAgain() throws IOException {
    Path chunk = chunks().get(0);
    Path aside = Files.move(chunk, directory.resolve("aside"));
    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> SealedCopy.write(store, table, true, () -> {}))
          .isInstanceOf(MissingFileException.class)
          .hasNoSuppressedExceptions();
      assertThat(new LocalMutableFiles(table).list("shard")).isEmpty();
      assertThat(open()).isEmpty();
    }
    Files.move(aside, chunk);
    assertThat(SealedCopy.write(store, table, true, () -> {}).shard()).isPresent();
    assertThat(open()).isEmpty();
  }

  @Test
  void aShardIsRemovedThatFailsBeforeAnythingIsCopied() throws IOException {
    Path token = Files.writeString(store.resolve("writer-" + UUID.randomUUID()), "1");
    assumeTrue(
        new LocalMutableFiles(store).identityOf("meta.json").isPresent(),
        "numbers of files do not count here");
    Throwable failure = catchThrowable(() -> SealedCopy.write(store, table, true, () -> {}));
    assertThat(failure).isInstanceOf(CorruptDataException.class).hasMessageContaining("copied");
    assertThat(new LocalMutableFiles(table).list("shard")).isEmpty();
    Files.delete(token);
    assertThat(SealedCopy.write(store, table, true, () -> {}).shard()).isPresent();
  }

  /** A storage on which nothing can be created, nor deleted. */
  private static final class Failing extends ForwardingStorage {
    private final List<String> deletions = new ArrayList<>();
    private final String failing;
    private final Runnable onFailure;

    Failing(Storage storage, String failing, Runnable onFailure) {
      super(storage);
      this.failing = failing;
      this.onFailure = onFailure;
    }

    @Override
    public WritableFile create(String name) {
      if (!name.startsWith(failing)) {
        return super.create(name);
      }
      onFailure.run();
      throw new MissingFileException(name, "first failure");
    }

    @Override
    public void delete(String name) {
      deletions.add(name);
      throw new IllegalStateException("cannot delete " + name);
    }
  }

  private static List<String> messages(Throwable[] failures) {
    List<String> messages = new ArrayList<>();
    for (Throwable failure : failures) {
      messages.add(failure.getMessage());
      messages.addAll(messages(failure.getSuppressed()));
    }
    return messages;
  }

  /** Other processes may copy stores meanwhile. */
  private static List<String> stages() throws IOException {
    try (Stream<Path> found = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      return found
          .map(path -> path.getFileName().toString())
          .filter(name -> name.startsWith(StagedFiles.prefix("copy")))
          .toList();
    }
  }

  @Test
  void aCopyThatFailsTriesToRemoveEachFileAndThrowsTheFirstFailure() throws IOException {
    Failing target = new Failing(LocalStorage.at(table), "journal", () -> {});
    Throwable failure = catchThrowable(() -> StoreCopy.write(store, target));
    assertThat(failure).hasMessage("first failure");
    assertThat(target.deletions)
        .contains("chunk/0.zr", "id.offset", "text.crc32c")
        .endsWith("copying");
    assertThat(messages(failure.getSuppressed()))
        .containsExactlyInAnyOrderElementsOf(
            target.deletions.stream().map(name -> "cannot delete " + name).toList());
    assertThat(open()).isEmpty();
    assertThat(stages()).isEmpty();
  }

  @Test
  void aCopyThatFailsRemovesNoFilesOfOthers() throws IOException {
    Storage target = new ForwardingStorage(LocalStorage.at(table)) {
      @Override
      public WritableFile create(String name) {
        if (!name.equals("journal")) {
          return super.create(name);
        }
        try {
          Files.writeString(table.resolve("notes"), "of another");
          Files.writeString(table.resolve("chunk/notes"), "of another");
        } catch (IOException e) {
          throw new IllegalStateException(e);
        }
        throw new MissingFileException(name, "first failure");
      }
    };
    assertThatThrownBy(() -> StoreCopy.write(store, target)).hasMessage("first failure");
    assertThat(new LocalMutableFiles(table).list("")).containsExactlyInAnyOrder("chunk", "notes");
    assertThat(new LocalMutableFiles(table).list("chunk")).containsExactly("notes");
    Files.delete(table.resolve("notes"));
    Files.delete(table.resolve("chunk/notes"));
    Files.delete(table.resolve("chunk"));
    assertThat(StoreCopy.write(store, LocalStorage.at(table))).isPositive();
  }

  @Test
  void aCopyThatFailsThrowsTheFirstFailureThoughTheStoreCannotBeReadAnyMore() throws IOException {
    Failing target = new Failing(LocalStorage.at(table), "chunk", () -> {
      try {
        Files.delete(store.resolve("meta.json"));
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    });
    Throwable failure = catchThrowable(() -> StoreCopy.write(store, target));
    assertThat(failure).hasMessage("first failure");
    assertThat(messages(failure.getSuppressed()))
        .anyMatch(message -> message.contains("meta.json"))
        .contains("cannot delete copying");
    assertThat(open()).isEmpty();
  }
}
