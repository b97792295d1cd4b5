package io.zrecord.storage.hadoop;

import io.zrecord.storage.ReadersUnderFireTest;
import io.zrecord.storage.Storage;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Readers by S3A, whose requests fail. */
final class S3aReadersUnderFireTest extends ReadersUnderFireTest {
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

  @Override
  protected URI server() {
    return ImpatientS3a.endpoint(server);
  }

  @Override
  protected Storage storage(URI endpoint, String dataset) {
    return ImpatientS3a.storage(server, endpoint, dataset);
  }
}
