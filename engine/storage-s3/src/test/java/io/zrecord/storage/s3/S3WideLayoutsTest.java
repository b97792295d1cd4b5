package io.zrecord.storage.s3;

import io.zrecord.Storages;
import io.zrecord.storage.Storage;
import io.zrecord.table.WideLayouts;
import io.zrecord.testing.S3Server;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

/** Changes of many values, and moves of records, on a server that speaks S3. */
@Tag("tier-3")
final class S3WideLayoutsTest extends WideLayouts {
  private static S3Server server;

  @BeforeAll
  static void start() throws IOException {
    server = S3Server.ofProcess(Path.of(System.getProperty("zrecord.test.s3proxy")));
    System.setProperty("aws.accessKeyId", server.accessKey());
    System.setProperty("aws.secretAccessKey", server.secretKey());
  }

  @AfterAll
  static void stop() {
    System.clearProperty("aws.accessKeyId");
    System.clearProperty("aws.secretAccessKey");
  }

  @Override
  protected Storage emptyStorage() {
    return Storages.at(
        "s3://" + server.bucket() + "/" + UUID.randomUUID(), Map.of("endpoint", server.endpoint()));
  }
}
