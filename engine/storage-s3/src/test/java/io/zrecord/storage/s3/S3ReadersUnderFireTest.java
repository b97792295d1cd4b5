package io.zrecord.storage.s3;

import io.zrecord.storage.ReadersUnderFireTest;
import io.zrecord.storage.Storage;
import java.io.IOException;
import java.net.URI;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Readers by the SDK, whose requests fail. */
final class S3ReadersUnderFireTest extends ReadersUnderFireTest {
  private static ImpatientS3 server;

  @BeforeAll
  static void start() throws IOException {
    server = new ImpatientS3();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Override
  protected URI server() {
    return server.endpoint();
  }

  @Override
  protected Storage storage(URI endpoint, String dataset) {
    return server.storage(endpoint, dataset);
  }
}
