package io.zrecord.storage.hadoop;

import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageContractTest;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The contract of storages on a store of objects, by S3A, which can write on a condition. */
final class S3aStorageTest extends StorageContractTest {
  @TempDir
  static Path directory;

  private static S3Server server;

  @BeforeAll
  static void start() throws IOException {
    server = new S3Server(Path.of(System.getProperty("zrecord.test.s3proxy")), directory);
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  /** S3Proxy over files answers with an error of its own, where S3 says that there is nothing. */
  @Override
  protected void belowAFileIsNothing() {}

  @Override
  protected void creatingOverAFileIsRefusedAndLeavesIt() {}

  @Override
  protected Storage emptyStorage() {
    return HadoopStorage.at(server.bucket() + "/data of " + UUID.randomUUID(), server.settings());
  }
}
