package io.zrecord.storage.s3;

import io.zrecord.Storages;
import io.zrecord.storage.Storage;
import io.zrecord.testing.S3Server;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;

/** The server of the process, whose clients repeat a request once. One at a time. */
final class ImpatientS3 implements AutoCloseable {
  private static final String KEY = "aws.accessKeyId";
  private static final String SECRET = "aws.secretAccessKey";
  private static final String TRIES = "aws.maxAttempts";

  private final S3Server server;

  ImpatientS3() throws IOException {
    server = S3Server.ofProcess(Path.of(System.getProperty("zrecord.test.s3proxy")));
    System.setProperty(KEY, server.accessKey());
    System.setProperty(SECRET, server.secretKey());
    System.setProperty(TRIES, "2");
  }

  URI endpoint() {
    return URI.create(server.endpoint());
  }

  /** Opens a storage that reaches the server at an endpoint, such as a proxy. */
  Storage storage(URI endpoint, String dataset) {
    return Storages.at(
        "s3://" + server.bucket() + "/" + dataset, Map.of("endpoint", endpoint.toString()));
  }

  @Override
  public void close() {
    System.clearProperty(KEY);
    System.clearProperty(SECRET);
    System.clearProperty(TRIES);
  }
}
