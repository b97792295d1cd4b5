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

/** The common parts of the benchmarks of stores: bytes to store, threads, and directories. */
final class Workplace {
  private Workplace() {}

  /** The work of one of several threads. */
  interface Work<T> {
    T run(int thread) throws Exception;
  }

  /** Returns bytes that cannot be compressed. */
  static byte[] noise(int bytes, long seed) {
    byte[] value = new byte[bytes];
    new Random(seed).nextBytes(value);
    return value;
  }

  /** Returns the result of each thread, in the order of the threads. */
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

  /** Returns the space that the files of a directory take; holes take none. */
  static long bytesOnDisk(Path directory) throws IOException {
    Process process = new ProcessBuilder("du", "-s", "--block-size=1", directory.toString())
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
    String answer = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return Long.parseLong(answer.substring(0, answer.indexOf('\t')));
  }

  /** Returns the lengths of the files below a directory. */
  static long lengthOf(Path directory) throws IOException {
    try (var paths = Files.walk(directory)) {
      return paths
          .filter(Files::isRegularFile)
          .mapToLong(file -> file.toFile().length())
          .sum();
    }
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

  /** Deletes a directory with its content, if it exists. */
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
