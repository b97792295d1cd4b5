package io.zrecord.storage.hadoop;

import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageContractTest;
import java.io.IOException;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** The contract of storages on an account of Azure with a hierarchical namespace, by ABFS. */
final class AbfsStorageTest extends StorageContractTest {
  private static FakeAzure azure;

  @BeforeAll
  static void start() throws IOException {
    azure = FakeAzure.hierarchical();
  }

  @AfterAll
  static void stop() {
    azure.close();
  }

  @Override
  protected Storage emptyStorage() {
    return HadoopStorage.at(
        FakeAzure.container(azure.endpoint()) + "/data of " + UUID.randomUUID(),
        FakeAzure.settings(azure.endpoint()));
  }
}
