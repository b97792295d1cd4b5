package io.zrecord.internal.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.DatasetExistsException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of a user whose names are like those that a store gives are the user's. */
final class FilesOfOthersTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("label", ElementType.I32).build();

  @TempDir
  Path directory;

  @Test
  void aDirectoryWithAUsersFilesIsNotEmpty() throws IOException {
    Path precious = directory.resolve("store/.upload.tmp/deep/precious");
    Files.createDirectories(precious.getParent());
    Files.writeString(precious, "mine");
    assertThatThrownBy(
            () -> RecordStore.create(directory.resolve("store"), SCHEMA, StoreOptions.defaults()))
        .isInstanceOf(DatasetExistsException.class);
    assertThat(precious).hasContent("mine");
  }

  @Test
  void filesBesideAStoreStay() throws IOException {
    Path path = directory.resolve("store");
    RecordStore.create(path, SCHEMA, StoreOptions.defaults()).close();
    Path notes = Files.writeString(path.resolve("writer-notes.txt"), "mine");
    Path upload = Files.createDirectory(path.resolve(".upload.tmp"));
    try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
      store.append(store.newValues().set("label", 1));
      store.commit();
    }
    assertThat(notes).hasContent("mine");
    assertThat(upload).exists();
  }
}
