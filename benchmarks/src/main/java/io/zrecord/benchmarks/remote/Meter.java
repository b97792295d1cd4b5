package io.zrecord.benchmarks.remote;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.Locale;

/**
 * Measures one turn of a contestant: seconds, time of processors of the client, the server and the
 * proxy, requests and bytes. Adds a line for each turn to the file of results, which
 * {@code benchmarks/remote/report.py} makes tables of. For one thread.
 */
final class Meter {
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final double BYTES_PER_MIB = 1 << 20;

  private final RemoteSite site;
  private final String title;

  /** Creates a meter of a case, which is named in the results. */
  Meter(RemoteSite site, String title) {
    this.site = site;
    this.title = title;
  }

  /** What is measured. */
  interface Work {
    void run() throws Exception;
  }

  /**
   * What a turn took.
   *
   * @param seconds of the clock
   * @param order how the requests went together
   */
  record Turn(double seconds, SentRequests.Order order) {}

  /** Does work that does not count. */
  static void warmUp(Work work) {
    try {
      SentRequests.clear();
      work.run();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Measures a turn and notes it. */
  Turn measure(String contestant, Least least, Work work) {
    return measure(contestant, least, work, () -> "-");
  }

  /**
   * Measures a turn and notes it.
   *
   * @param remark asked for after the turn: what else is to be told of it, such as {@code 3 % idle}
   */
  Turn measure(
      String contestant, Least least, Work work, java.util.function.Supplier<String> remark) {
    Usage before = Usage.of(site);
    SentRequests.clear();
    long cpu = SYSTEM.getProcessCpuTime();
    long start = System.nanoTime();
    try {
      work.run();
    } catch (Exception e) {
      throw new IllegalStateException(contestant + " failed", e);
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    double client = (SYSTEM.getProcessCpuTime() - cpu) / 1e9;
    SentRequests.Order order = SentRequests.order();
    Usage after = Usage.of(site);
    note(String.format(
        Locale.ROOT,
        "%s\t%s\t%.4f\t%.3f\t%.2f\t%.2f\t%d\t%.3f\t%.3f\t%d\t%d\t%d\t%.3f\t%s%n",
        title,
        contestant,
        seconds,
        client,
        after.serverSeconds() - before.serverSeconds(),
        after.proxySeconds() - before.proxySeconds(),
        after.requests() - before.requests(),
        (after.writtenBytes() - before.writtenBytes()) / BYTES_PER_MIB,
        order.uploadedBytes() / BYTES_PER_MIB,
        order.inTurn(),
        order.atOnce(),
        least.requests(),
        least.bytes() / BYTES_PER_MIB,
        remark.get()));
    return new Turn(seconds, order);
  }

  private void note(String line) {
    try {
      Files.writeString(site.results(), line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
