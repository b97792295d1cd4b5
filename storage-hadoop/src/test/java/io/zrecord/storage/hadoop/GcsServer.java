package io.zrecord.storage.hadoop;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;

/** A server that speaks Google Cloud Storage, in a process of its own: fake-gcs-server. */
final class GcsServer implements AutoCloseable {
  private static final Duration START = Duration.ofSeconds(60);

  private final Process process;
  private final String endpoint;
  private final String bucket = "bucket-" + UUID.randomUUID();

  /** Starts a server with one bucket, which keeps objects in memory. */
  GcsServer(Path program, Path directory) throws IOException, InterruptedException {
    int port = freePort();
    endpoint = "http://127.0.0.1:" + port;
    Path log = directory.resolve("fake-gcs-server.log");
    process = new ProcessBuilder(
            program.toString(),
            "-backend=memory",
            "-scheme=http",
            "-host=127.0.0.1",
            "-port=" + port,
            "-external-url=" + endpoint,
            "-public-host=127.0.0.1:" + port)
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

  private void makeBucket(Path log) throws IOException, InterruptedException {
    HttpRequest request = HttpRequest.newBuilder(URI.create(endpoint + "/storage/v1/b?project=p"))
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString("{\"name\": \"" + bucket + "\"}"))
        .build();
    Instant end = Instant.now().plus(START);
    while (Instant.now().isBefore(end) && process.isAlive()) {
      try {
        int status = HttpClient.newHttpClient()
            .send(request, HttpResponse.BodyHandlers.discarding())
            .statusCode();
        if (status == 200) {
          return;
        }
      } catch (IOException e) {
        // It does not listen yet.
      }
      Thread.sleep(50);
    }
    process.destroyForcibly();
    throw new IOException("fake-gcs-server makes no bucket:\n" + Files.readString(log));
  }

  /** Returns the URI of the bucket. */
  String bucket() {
    return "gs://" + bucket;
  }

  /** Returns what Google's connector needs to reach the server. */
  Configuration settings() {
    Configuration settings = new Configuration();
    settings.set("fs.gs.impl", "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem");
    settings.set("fs.gs.project.id", "p");
    settings.set("fs.gs.storage.root.url", endpoint + "/");
    settings.set("fs.gs.auth.type", "UNAUTHENTICATED");
    settings.set("fs.gs.auth.service.account.enable", "false");
    settings.set("fs.gs.auth.null.enable", "true");
    return settings;
  }

  @Override
  public void close() {
    process.destroy();
  }
}
