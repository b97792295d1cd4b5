package io.zrecord.storage.hadoop;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;

/** A server that speaks S3, with what S3A needs to reach the server. */
public final class S3Server implements AutoCloseable {
  private final io.zrecord.testing.S3Server server;

  /**
   * Starts a server with one bucket.
   *
   * @param jar of S3Proxy with all that it needs
   */
  public S3Server(Path jar, Path directory) throws IOException {
    this(new io.zrecord.testing.S3Server(jar, directory));
  }

  private S3Server(io.zrecord.testing.S3Server server) {
    this.server = server;
  }

  /** Returns the server of this process, which ends with the process. */
  static S3Server ofProcess() throws IOException {
    return new S3Server(
        io.zrecord.testing.S3Server.ofProcess(Path.of(System.getProperty("zrecord.test.s3proxy"))));
  }

  /** Returns the URI of the bucket. */
  public String bucket() {
    return "s3a://" + server.bucket();
  }

  /** Returns what S3A needs to reach the server. */
  public Configuration settings() {
    Configuration settings = new Configuration();
    settings.set("fs.s3a.endpoint", server.endpoint());
    settings.set("fs.s3a.endpoint.region", "us-east-1");
    settings.set("fs.s3a.path.style.access", "true");
    settings.set("fs.s3a.access.key", server.accessKey());
    settings.set("fs.s3a.secret.key", server.secretKey());
    settings.set("fs.s3a.connection.ssl.enabled", "false");
    return settings;
  }

  @Override
  public void close() {
    server.close();
  }
}
