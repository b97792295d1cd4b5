package io.zrecord.storage.hadoop;

import io.zrecord.storage.CommitsUnderFireTest;
import io.zrecord.storage.Storage;
import java.io.IOException;
import java.net.URI;
import org.junit.jupiter.api.BeforeAll;

/** Commits by S3A, whose requests fail. */
final class S3aCommitsUnderFireTest extends CommitsUnderFireTest {
  private static S3Server server;

  @BeforeAll
  static void start() throws IOException {
    server = S3Server.ofProcess();
  }

  @Override
  protected URI server() {
    return ImpatientS3a.endpoint(server);
  }

  @Override
  protected Storage storage(URI endpoint, String dataset) {
    return ImpatientS3a.storage(server, endpoint, dataset);
  }
}
