package io.zrecord.storage.hadoop;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;

/**
 * A server that speaks as Google Cloud Storage, in a process of its own: fake-gcs-server with
 * objects in memory, which keeps the condition that an object does not exist.
 */
final class GcsServer implements AutoCloseable {
  private static final Duration START = Duration.ofMinutes(5);

  private final HttpClient client = HttpClient.newHttpClient();
  private final Process process;
  private final int port;
  private final String bucket = "bucket-" + UUID.randomUUID();

  /** Starts a server with one bucket. */
  GcsServer(Path program, Path directory) throws IOException {
    port = freePort();
    Path log = directory.resolve("fake-gcs-server.log");
    process = new ProcessBuilder(
            program.toString(),
            "-backend=memory",
            "-scheme=http",
            "-host=127.0.0.1",
            "-port=" + port,
            "-public-host=127.0.0.1:" + port,
            "-external-url=" + endpoint())
        .redirectErrorStream(true)
        .redirectOutput(log.toFile())
        .start();
    makeBucket(log);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void makeBucket(Path log) throws IOException {
    HttpRequest request = HttpRequest.newBuilder(
            URI.create(endpoint() + "/storage/v1/b?project=tests"))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString("{\"name\": \"" + bucket + "\"}"))
        .build();
    Instant end = Instant.now().plus(START);
    while (Instant.now().isBefore(end) && process.isAlive()) {
      try {
        if (client.send(request, BodyHandlers.discarding()).statusCode() == 200) {
          return;
        }
        pause();
      } catch (IOException e) {
        pause();
      } catch (InterruptedException e) {
        throw interrupted(e);
      }
    }
    process.destroyForcibly();
    throw new IOException("fake-gcs-server does not answer:\n" + Files.readString(log));
  }

  private static void pause() {
    try {
      Thread.sleep(50);
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
  }

  private static UncheckedIOException interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    return new UncheckedIOException(new IOException(e));
  }

  private String endpoint() {
    return "http://127.0.0.1:" + port;
  }

  /** Returns the URI of the bucket. */
  String bucket() {
    return "gs://" + bucket;
  }

  /** Returns what Google's connector needs to reach the server. */
  Configuration settings() {
    Configuration settings = new Configuration();
    settings.set("fs.gs.impl", "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem");
    settings.set("fs.gs.storage.root.url", endpoint() + "/");
    settings.set("fs.gs.auth.service.account.enable", "false");
    settings.set("fs.gs.auth.null.enable", "true");
    settings.set("fs.gs.project.id", "tests");
    // Hadoop 3.5 has defaults such as "64m", which this connector cannot read.
    settings.setLong("fs.gs.block.size", 64 << 20);
    settings.setLong("fs.gs.rewrite.max.chunk.size", 512 << 20);
    settings.setLong("fs.gs.outputstream.buffer.size", 8 << 20);
    settings.setLong("fs.gs.inputstream.inplace.seek.limit", 8 << 20);
    settings.setLong("fs.gs.inputstream.min.range.request.size", 2 << 20);
    return settings;
  }

  @Override
  public void close() {
    process.destroy();
  }
}
