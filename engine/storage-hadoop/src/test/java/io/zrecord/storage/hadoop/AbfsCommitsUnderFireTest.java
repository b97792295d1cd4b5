package io.zrecord.storage.hadoop;

import io.zrecord.storage.CommitsUnderFireTest;
import io.zrecord.storage.Storage;
import io.zrecord.testing.HttpFault;
import java.net.URI;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Commits by ABFS, whose requests fail. */
final class AbfsCommitsUnderFireTest extends CommitsUnderFireTest {
  @RegisterExtension
  private final FreshAzure azure = new FreshAzure();

  @Override
  protected URI server() {
    return azure.account().endpoint();
  }

  @Override
  protected HttpFault echo() {
    return HttpFault.doneAnd(409, "PathAlreadyExists");
  }

  @Override
  protected Storage storage(URI endpoint, String dataset) {
    return FakeAzure.storage(endpoint, dataset);
  }
}
