package io.zrecord.benchmarks.remote;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * What the server and the proxy have used since they started.
 *
 * @param serverSeconds time of processors of the server
 * @param proxySeconds time of processors of the proxy
 * @param requests lines of the access log
 * @param writtenBytes bytes that the server wrote to connections and files, without the log; where
 *     nothing is stored, the bytes that it sent
 */
record Usage(double serverSeconds, double proxySeconds, long requests, long writtenBytes) {
  private static final double TICKS_PER_SECOND = 100;
  private static final int USER_TICKS = 11;
  private static final long QUIET_MILLIS = 30;

  /** Returns what was used until now, once the server has finished the lines of its log. */
  static Usage of(RemoteSite site) {
    try {
      long logBytes = quietLength(site.accessLog());
      String io = Files.readString(process(site.serverPid()).resolve("io"));
      return new Usage(
          seconds(OptionalLong.of(site.serverPid())),
          seconds(site.proxyPid()),
          lines(site.accessLog()),
          number(io, "wchar: ") - logBytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long quietLength(Path log) throws IOException {
    long length = Files.size(log);
    while (true) {
      try {
        Thread.sleep(QUIET_MILLIS);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      long now = Files.size(log);
      if (now == length) {
        return now;
      }
      length = now;
    }
  }

  private static long lines(Path log) throws IOException {
    long lines = 0;
    byte[] part = new byte[1 << 16];
    try (InputStream in = Files.newInputStream(log)) {
      for (int read = in.read(part); read >= 0; read = in.read(part)) {
        for (int i = 0; i < read; i++) {
          lines += part[i] == '\n' ? 1 : 0;
        }
      }
    }
    return lines;
  }

  private static double seconds(OptionalLong pid) throws IOException {
    if (pid.isEmpty()) {
      return 0;
    }
    String stat;
    try {
      stat = Files.readString(process(pid.getAsLong()).resolve("stat"), StandardCharsets.UTF_8);
    } catch (NoSuchFileException e) {
      throw new IllegalStateException(
          "The process " + pid.getAsLong() + " of the server or the proxy has ended", e);
    }
    // The name of the program is in brackets and may have blanks in it.
    String[] numbers = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    return (Long.parseLong(numbers[USER_TICKS]) + Long.parseLong(numbers[USER_TICKS + 1]))
        / TICKS_PER_SECOND;
  }

  private static long number(String io, String name) {
    int from = io.indexOf(name) + name.length();
    return Long.parseLong(io.substring(from, io.indexOf('\n', from)));
  }

  private static Path process(long pid) {
    return Path.of("/proc", Long.toString(pid));
  }
}
