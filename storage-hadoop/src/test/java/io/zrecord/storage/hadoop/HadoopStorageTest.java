package io.zrecord.storage.hadoop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.StorageException;
import io.zrecord.storage.Storage;
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
