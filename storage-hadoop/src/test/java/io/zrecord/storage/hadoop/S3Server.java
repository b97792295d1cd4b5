package io.zrecord.storage.hadoop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;

/**
 * A server that speaks S3, in a process of its own: S3Proxy over files, which gives a name once
 * only, as S3 does.
 */
public final class S3Server implements AutoCloseable {
  private static final String BUCKET = "bucket";
  private static final Duration START = Duration.ofSeconds(60);

  private final Process process;
  private final int port;
  private final String secret = UUID.randomUUID().toString();

  /**
   * Starts a server with one bucket.
   *
   * @param jar of S3Proxy with all that it needs
   */
  public S3Server(Path jar, Path directory) throws IOException {
    port = freePort();
    Files.createDirectories(directory.resolve("data").resolve(BUCKET));
    Path settings = Files.writeString(
        directory.resolve("s3proxy.properties"),
        String.join(
            "\n",
            "s3proxy.endpoint=http://127.0.0.1:" + port,
            "s3proxy.authorization=aws-v2-or-v4",
            "s3proxy.identity=tester",
            "s3proxy.credential=" + secret,
            "jclouds.provider=filesystem-nio2",
            "jclouds.identity=none",
            "jclouds.credential=none",
            "jclouds.filesystem.basedir=" + directory.resolve("data")));
    process = new ProcessBuilder(List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx512m",
            "-jar",
            jar.toString(),
            "--properties",
            settings.toString()))
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("s3proxy.log").toFile())
        .start();
    awaitStart(directory.resolve("s3proxy.log"));
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void awaitStart(Path log) throws IOException {
    Instant end = Instant.now().plus(START);
    while (Instant.now().isBefore(end) && process.isAlive()) {
      try {
        new Socket(InetAddress.getLoopbackAddress(), port).close();
        return;
      } catch (IOException e) {
        pause();
      }
    }
    process.destroyForcibly();
    throw new IOException("S3Proxy does not answer:\n" + Files.readString(log));
  }

  private static void pause() {
    try {
      Thread.sleep(50);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(new IOException(e));
    }
  }

  /** Returns the URI of the bucket. */
  public String bucket() {
    return "s3a://" + BUCKET;
  }

  /** Returns what S3A needs to reach the server. */
  public Configuration settings() {
    Configuration settings = new Configuration();
    settings.set("fs.s3a.endpoint", "http://127.0.0.1:" + port);
    settings.set("fs.s3a.endpoint.region", "us-east-1");
    settings.set("fs.s3a.path.style.access", "true");
    settings.set("fs.s3a.access.key", "tester");
    settings.set("fs.s3a.secret.key", secret);
    settings.set("fs.s3a.connection.ssl.enabled", "false");
    return settings;
  }

  @Override
  public void close() {
    process.destroy();
  }
}
