package io.zrecord.storage.hadoop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.StorageException;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class HadoopStorageTest {
  @TempDir
  Path directory;

  private Storage storage(Configuration settings) {
    return HadoopStorage.at("file://" + directory, settings);
  }

  @Test
  void aFileSystemThatIsNotKnownToPublishOnceIsOnlyRead() throws IOException {
    Files.writeString(directory.resolve("f"), "content");
    Storage storage = storage(new Configuration());
    assertThat(storage.read("f", 100)).asString(UTF_8).isEqualTo("content");
    assertThatThrownBy(() -> storage.create("g"))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("zrecord.publish")
        .hasMessageContaining("'file'");
    assertThatThrownBy(() -> storage.publish("g", new byte[1]))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("zrecord.publish");
    assertThat(storage.exists("g")).isFalse();
  }

  @Test
  void theUserNamesAWayToPublishOrIsToldWhichThereAre() {
    Configuration settings = new Configuration();
    settings.set("zrecord.publish", "create");
    Storage storage = storage(settings);
    assertThat(storage.publish("m/0.json", "first".getBytes(UTF_8))).isTrue();
    assertThat(storage.publish("m/0.json", "second".getBytes(UTF_8))).isFalse();
    assertThat(storage.read("m/0.json", 100)).asString(UTF_8).isEqualTo("first");
    settings.set("zrecord.publish", "hope");
    assertThatThrownBy(() -> storage(settings).publish("m/1.json", new byte[1]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'hope'")
        .hasMessageContaining("'rename' or 'create'");
  }

  /** A rename of a local file system replaces. */
  @Test
  void aFileSystemThatBreaksThePromiseOfTheUserIsNotWrittenTo() {
    Configuration settings = new Configuration();
    settings.set("zrecord.publish", "rename");
    assertThatThrownBy(() -> storage(settings).publish("m/0.json", new byte[1]))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("two writers")
        .hasMessageContaining("must never replace a file");
    assertThat(storage(settings).listTree("")).isEmpty();
  }

  @Test
  void manyFilesAreListedAndDeletedWhereverTheyAre() {
    Configuration settings = new Configuration();
    settings.set("zrecord.publish", "create");
    Storage storage = storage(settings);
    for (int i = 0; i < 40; i++) {
      storage.publish("d/" + i % 7 + "/" + i, new byte[i]);
    }
    assertThat(storage.listTree("d"))
        .hasSize(40)
        .allMatch(file -> file.name().endsWith("/" + file.lengthBytes()));
    storage.deleteAll(
        storage.listTree("").stream().map(StoredFile::name).skip(1).toList());
    assertThat(storage.listTree("")).hasSize(1);
    storage.deleteAll(java.util.List.of("no/such/file"));
  }

  @Test
  void aLocationWithAPasswordIsRefusedWithoutSayingIt() {
    assertThatThrownBy(() -> HadoopStorage.at("s3a://key:secret@bucket/x", new Configuration()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("password")
        .hasMessageNotContaining("secret");
  }

  @Test
  void aSchemeThatNoFileSystemHasIsRefused() {
    assertThatThrownBy(() -> HadoopStorage.at("nosuch://host/x", new Configuration()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("nosuch");
  }
}
