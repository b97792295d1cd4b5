package io.zrecord.storage.hadoop;

import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageContractTest;
import java.io.IOException;
import java.util.UUID;
import org.junit.jupiter.api.BeforeAll;

/** The contract of storages on a store of objects, by S3A, which can write on a condition. */
final class S3aStorageTest extends StorageContractTest {
  private static S3Server server;

  @BeforeAll
  static void start() throws IOException {
    server = S3Server.ofProcess();
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
