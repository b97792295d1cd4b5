package io.zrecord.testing;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A server that speaks S3, in a process of its own: S3Proxy over files, which gives a name once
 * only, as S3 does.
 */
public final class S3Server implements AutoCloseable {
  private static final String USER = "tester";
  private static final Duration START = Duration.ofMinutes(5);
  private static final Pattern LISTENING =
      Pattern.compile("Started .*ServerConnector@.*\\{127\\.0\\.0\\.1:(\\d+)\\}");

  private static @Nullable S3Server shared;

  private final Process process;
  private final int port;
  private final String secret = UUID.randomUUID().toString();
  /** A name of its own: clients keep what they know of a bucket, whichever server has it. */
  private final String bucket = "bucket-" + UUID.randomUUID();

  /**
   * Starts a server with one bucket.
   *
   * @param jar of S3Proxy with all that it needs
   */
  public S3Server(Path jar, Path directory) throws IOException {
    Files.createDirectories(directory.resolve("data").resolve(bucket));
    Path settings = Files.writeString(
        directory.resolve("s3proxy.properties"),
        String.join(
            "\n",
            // Any port that is free; the log says which.
            "s3proxy.endpoint=http://127.0.0.1:0",
            "s3proxy.authorization=aws-v2-or-v4",
            "s3proxy.identity=" + USER,
            "s3proxy.credential=" + secret,
            "jclouds.provider=filesystem-nio2",
            "jclouds.identity=none",
            "jclouds.credential=none",
            "jclouds.filesystem.basedir=" + directory.resolve("data")));
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx512m", "-cp", ChildProgram.location() + File.pathSeparator + jar));
    command.addAll(ChildProgram.command("org.gaul.s3proxy.Main"));
    command.addAll(List.of("--properties", settings.toString()));
    process = new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(directory.resolve("s3proxy.log").toFile())
        .start();
    port = awaitStart(directory.resolve("s3proxy.log"));
  }

  /**
   * Returns the server of this process, which ends with the process.
   *
   * @param jar of S3Proxy with all that it needs
   */
  public static synchronized S3Server ofProcess(Path jar) throws IOException {
    if (shared == null) {
      Path directory = Files.createTempDirectory("s3-server");
      S3Server started = new S3Server(jar, directory);
      Runtime.getRuntime().addShutdownHook(new Thread(() -> started.end(directory)));
      shared = started;
    }
    return shared;
  }

  private void end(Path directory) {
    process.destroyForcibly();
    try (Stream<Path> files = Files.walk(directory)) {
      process.waitFor();
      files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns the port where the server listens. */
  private int awaitStart(Path log) throws IOException {
    Instant end = Instant.now().plus(START);
    while (Instant.now().isBefore(end) && process.isAlive()) {
      Matcher listening = LISTENING.matcher(Files.readString(log));
      if (listening.find()) {
        return Integer.parseInt(listening.group(1));
      }
      pause();
    }
    process.destroyForcibly();
    throw new IOException("S3Proxy does not listen:\n" + Files.readString(log));
  }

  private static void pause() {
    try {
      Thread.sleep(50);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(new IOException(e));
    }
  }

  /** Returns the URL of the server. */
  public String endpoint() {
    return "http://127.0.0.1:" + port;
  }

  /** Returns the name of the bucket. */
  public String bucket() {
    return bucket;
  }

  /** Returns the name by which requests are signed. */
  public String accessKey() {
    return USER;
  }

  /** Returns the secret by which requests are signed. */
  public String secretKey() {
    return secret;
  }

  @Override
  public void close() {
    process.destroy();
  }
}
