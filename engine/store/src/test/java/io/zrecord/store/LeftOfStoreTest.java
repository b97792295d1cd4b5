package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.errors.StorageException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.CareMode;
import io.zrecord.table.RecordTable;
import io.zrecord.table.SweepOptions;
import io.zrecord.testing.ForwardingFiles;
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

/** What a store leaves in the table that it became, when the conversion is killed at its end. */
final class LeftOfStoreTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("id", ElementType.I64).build();

  @TempDir
  Path directory;

  private Path path;

  /** Converts a store, and ends before any of its files is deleted. */
  @BeforeEach
  void convertStore() throws IOException {
    path = directory.resolve("store");
    try (RecordStore store = RecordStore.create(path, SCHEMA, StoreOptions.defaults())) {
      store.append(store.newValues().set("id", 7L));
    }
    MutableFiles files = new ForwardingFiles(new LocalMutableFiles(path)) {
      @Override
      public void delete(List<String> names, Runnable lastCheck) {
        if (names.contains("meta.json")) {
          throw new StorageException("meta.json", "killed");
        }
        super.delete(names, lastCheck);
      }
    };
    StoreSnapshot.convert(path, files, check -> LocalStorage.fenced(path, check));
    // A recovery that was killed may have left copies of tables.
    Files.createFile(path.resolve("field-1-3.offset"));
    assertThat(names()).contains("chunk", "id.crc32c", "id.offset", "journal", "live", "meta.json");
  }

  private List<String> names() {
    return new LocalMutableFiles(path).list("").stream().sorted().toList();
  }

  private List<Finding> findings() {
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(path.toString()).run(findings::add);
    return findings;
  }

  private List<String> sweep() {
    List<String> orphans = new ArrayList<>();
    RecordTable.at(LocalStorage.at(path))
        .sweep(
            SweepOptions.defaults().withMode(CareMode.DELETE),
            orphan -> orphans.add(orphan.name()));
    return orphans;
  }

  private void age(String name) throws IOException {
    try (Stream<Path> below = Files.walk(path.resolve(name))) {
      for (Path file : below.toList()) {
        Files.setLastModifiedTime(file, FileTime.fromMillis(0));
      }
    }
  }

  private void requireTable() {
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      assertThat(dataset.length()).isOne();
    }
  }

  @Test
  void aSweepDeletesTheFilesOfTheStoreAndNoOthers() throws IOException {
    List<String> others = List.of("journal.damaged-1", "notes.offset", "writer-of-this");
    for (String other : others) {
      Files.createFile(path.resolve(other));
    }
    assertThat(findings())
        .allMatch(finding -> finding.kind() == Finding.Kind.ORPHAN)
        .extracting(Finding::file)
        .contains(path.resolve("chunk").toString(), path.resolve("meta.json").toString());
    age("");
    List<String> swept = sweep();
    assertThat(swept)
        .contains("chunk", "id.crc32c", "id.offset", "field-1-3.offset", "journal", "live")
        .anyMatch(name -> name.startsWith("writer-"))
        .doesNotContainAnyElementsOf(others);
    assertThat(names()).contains("lock", "manifest", "shard").containsAll(others);
    for (String other : others) {
      Files.delete(path.resolve(other));
    }
    assertThat(names())
        .allMatch(name -> List.of("list", "lock", "manifest", "shard").contains(name));
    assertThat(findings()).isEmpty();
    requireTable();
  }

  /** The meta file names the tables, and goes last. */
  @Test
  void noneOfTheFilesIsDeletedWhileOneIsYoung() throws IOException {
    age("");
    Files.setLastModifiedTime(
        path.resolve("id.offset"), FileTime.fromMillis(System.currentTimeMillis()));
    // What was on its way to be deleted, and the name of the writer, say nothing of the others.
    assertThat(sweep()).allMatch(name -> name.matches("writer-.*|\\.deleted\\..*"));
    assertThat(names()).contains("chunk", "id.crc32c", "id.offset", "journal", "live", "meta.json");
    age("id.offset");
    assertThat(sweep()).endsWith("meta.json");
    requireTable();
  }
}
