package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.errors.StorageException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.CareMode;
import io.zrecord.table.RecordTable;
import io.zrecord.table.SweepOptions;
import io.zrecord.testing.StuckFile;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A deletion counts once the file has left its place. What is moved away may be impossible to
 * remove, as where a file system keeps hidden files for programs that have a deleted file open.
 */
final class BusyDeletionTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("id", ElementType.I64).build();

  @TempDir
  Path directory;

  private Path path;

  @BeforeEach
  void createStore() {
    path = directory.resolve("store");
    try (RecordStore store = RecordStore.create(path, SCHEMA, StoreOptions.defaults())) {
      append(store, 0);
    }
  }

  private static void append(RecordStore store, long id) {
    store.append(store.newValues().set("id", id));
    store.commit();
  }

  /** Returns the directories of deletions, and what else is on its way. */
  private List<Path> temporaries() {
    return new LocalMutableFiles(path)
        .list("").stream()
            .filter(name -> name.endsWith(".tmp"))
            .map(path::resolve)
            .toList();
  }

  private List<String> tokens() {
    return new LocalMutableFiles(path)
        .list("").stream().filter(name -> name.startsWith("writer-")).toList();
  }

  private long length() {
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      return dataset.length();
    }
  }

  @Test
  void aWriterCommitsAndClosesThoughWhatItDeletedCannotBeRemoved() throws Exception {
    RecordStore store = RecordStore.open(path, StoreOptions.defaults());
    assertThat(temporaries()).hasSize(1);
    try (StuckFile stuck =
        StuckFile.at(path, temporaries().get(0).resolve("deleted/stuck/.nfs01"))) {
      append(store, 1);
      store.checkpoint();
      store.close();
      assertThat(tokens()).isEmpty();
      for (int i = 2; i < 4; i++) {
        try (RecordStore next = RecordStore.open(path, StoreOptions.defaults())) {
          append(next, i);
        }
        assertThat(tokens()).isEmpty();
        assertThat(temporaries()).hasSize(1);
        assertThat(stuck.path()).startsWith(temporaries().get(0));
      }
    }
    RecordStore.open(path, StoreOptions.defaults()).close();
    assertThat(temporaries()).isEmpty();
    assertThat(length()).isEqualTo(4);
  }

  @Test
  void aLeftoverThatCannotBeRemovedLeavesItsPlaceAndKeepsNoOtherFile() throws Exception {
    Path other = Files.writeString(path.resolve("chunk/78.zr"), "left");
    try (StuckFile stuck = StuckFile.at(path, path.resolve("chunk/77.zr/stuck/kept"))) {
      Path beside = Files.writeString(path.resolve("chunk/77.zr/beside"), "left");
      try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
        append(store, 1);
        assertThat(path.resolve("chunk/77.zr")).doesNotExist();
        assertThat(other).doesNotExist();
        try (Stream<Path> left = Files.walk(path)) {
          assertThat(left).noneMatch(file -> file.endsWith(beside.getFileName()));
        }
      }
      StoreRebalance.of(path, StoreRebalanceOptions.defaults()).run();
      assertThat(stuck.path()).startsWith(temporaries().get(0));
    }
    RecordStore.open(path, StoreOptions.defaults()).close();
    assertThat(temporaries()).isEmpty();
    assertThat(length()).isEqualTo(2);
  }

  @Test
  void aStoreBecomesATableThoughItsFilesCannotBeRemoved() throws Exception {
    RecordTable table = RecordTable.at(LocalStorage.at(path));
    try (StuckFile stuck = StuckFile.at(path, path.resolve("chunk/open/.fuse_hidden01"))) {
      assertThat(StoreSnapshot.convert(path).length()).isOne();
      assertThat(tokens()).isEmpty();
      assertThat(path.resolve("chunk")).doesNotExist();
      assertThat(length()).isOne();
      assertThat(temporaries()).hasSize(1);
      List<Finding> findings = new ArrayList<>();
      DatasetCheck.of(path.toString()).run(findings::add);
      assertThat(findings).hasSize(1);
      assertThat(findings.get(0).kind()).isEqualTo(Finding.Kind.ORPHAN);
      assertThat(findings.get(0).file()).isEqualTo(temporaries().get(0).toString());
      age(temporaries().get(0));
      sweep(table);
      assertThat(stuck.path()).startsWith(temporaries().get(0));
    }
    Path left = temporaries().get(0);
    age(left);
    assertThat(sweep(table)).containsExactly(left.getFileName().toString());
    assertThat(temporaries()).isEmpty();
    assertThat(length()).isOne();
  }

  private static List<String> sweep(RecordTable table) {
    List<String> orphans = new ArrayList<>();
    table.sweep(
        SweepOptions.defaults().withMode(CareMode.DELETE), orphan -> orphans.add(orphan.name()));
    return orphans;
  }

  /** Makes directories look as if nobody had changed them for long. */
  private static void age(Path directory) throws IOException {
    try (Stream<Path> below = Files.walk(directory)) {
      for (Path file : below.filter(Files::isDirectory).toList()) {
        Files.setLastModifiedTime(file, FileTime.fromMillis(0));
      }
    }
  }

  @Test
  void noFileOfAnotherIsDeletedThoughItsDirectoryCannotBeRemoved() throws Exception {
    LocalMutableFiles files = new LocalMutableFiles(path);
    files.beginWriting(() -> {});
    try (StuckFile stuck = StuckFile.at(path, temporaries().get(0).resolve("stuck/kept"))) {
      assertThatThrownBy(() -> files.delete(
              List.of("meta.json", "chunk"), new LocalMutableFiles(path)::dropReplacements))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("another program deleted");
      assertThat(files.list("")).contains("meta.json", "chunk");
      assertThat(stuck.path()).startsWith(temporaries().get(0));
      files.endWriting();
    }
    new LocalMutableFiles(path).dropReplacements();
    assertThat(temporaries()).isEmpty();
  }
}
