package io.zrecord.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** What the benchmarks of stores share: bytes to store, threads, and directories. */
final class Workplace {
  private Workplace() {}

  /** What one of several threads does. */
  interface Work<T> {
    T run(int thread) throws Exception;
  }

  /** Bytes that cannot be compressed. */
  static byte[] noise(int bytes, long seed) {
    byte[] value = new byte[bytes];
    new Random(seed).nextBytes(value);
    return value;
  }

  /** What each thread returned, in their order. */
  static <T> List<T> inParallel(int threads, Work<T> work) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Callable<T>> tasks = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        int thread = t;
        tasks.add(() -> work.run(thread));
      }
      List<T> results = new ArrayList<>();
      for (Future<T> done : pool.invokeAll(tasks)) {
        results.add(done.get());
      }
      return results;
    } finally {
      pool.shutdown();
    }
  }

  /** Space that the files of a directory take; holes take none. */
  static long bytesOnDisk(Path directory) throws IOException {
    Process process = new ProcessBuilder("du", "-s", "--block-size=1", directory.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
    String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return Long.parseLong(answer.substring(0, answer.indexOf('\t')));
  }

  /** Runs a command of the system. */
  static void run(String... command) {
    try {
      if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
        throw new IllegalStateException(List.of(command) + " failed");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Deletes a directory with all that is in it, if it exists. */
  static void delete(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    try (var paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
