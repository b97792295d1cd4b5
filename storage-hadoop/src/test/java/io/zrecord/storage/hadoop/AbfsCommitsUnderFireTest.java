package io.zrecord.storage.hadoop;

import io.zrecord.storage.CommitsUnderFireTest;
import io.zrecord.storage.Storage;
import io.zrecord.testing.HttpFault;
import java.io.IOException;
import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Commits by ABFS, whose requests fail. */
final class AbfsCommitsUnderFireTest extends CommitsUnderFireTest {
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
  protected URI server() {
    return azure.endpoint();
  }

  @Override
  protected HttpFault echo() {
    return HttpFault.doneAnd(409, "PathAlreadyExists");
  }

  @Override
  protected Storage storage(URI endpoint, String dataset) {
    return HadoopStorage.at(
        FakeAzure.container(endpoint) + "/" + dataset, FakeAzure.settings(endpoint));
  }
}
