package io.zrecord.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageContractTest;
import java.io.IOException;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.AfterEach;

/** The contract of storages by ABFS. Each test has a directory of its own, and deletes it. */
abstract class AbfsContractTest extends StorageContractTest {
  private Path root;

  /** Returns the URI of the directory that has those of the tests. */
  abstract String location();

  abstract Configuration settings();

  @Override
  protected Storage emptyStorage() {
    root = new Path(location() + "/data of " + UUID.randomUUID());
    return HadoopStorage.at(root.toString(), settings());
  }

  @AfterEach
  void deleteDirectory() throws IOException {
    FileSystem files = root.getFileSystem(settings());
    files.delete(root, true);
    assertThat(files.exists(root)).isFalse();
  }
}
