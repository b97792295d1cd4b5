package io.zrecord.benchmarks.remote;

import java.net.URI;
import java.nio.file.Path;
import java.util.OptionalLong;

/**
 * Says where the server is, as {@code benchmarks/remote/run} passes it by the environment.
 *
 * @param endpoint what clients ask: the proxy, or the server itself
 * @param accessKey the name that the server knows
 * @param secretKey its secret, of this run only
 * @param serverPid process of the server
 * @param proxyPid process of the proxy; empty if clients ask the server itself
 * @param accessLog file with a line for each request that the server answered
 * @param results file that each measurement adds a line to
 * @param records number of records of the table {@code binaries}
 */
record RemoteSite(
    URI endpoint,
    String accessKey,
    String secretKey,
    long serverPid,
    OptionalLong proxyPid,
    Path accessLog,
    Path results,
    long records) {
  static final String BUCKET = "bench";
  static final String REGION = "us-east-1";

  /** Bytes of the value of each record of the table {@code binaries}. */
  static final int VALUE_BYTES = 64 << 10;

  /** Bytes of the largest range that is asked for at once, also by plain requests. */
  static final int RANGE_BYTES = 8 << 20;

  /** Number of copies of each table, which {@link #copy} names from 0 on. */
  static final int COPIES = 8;

  /** Returns the site that the environment names. */
  static RemoteSite ofEnvironment() {
    String proxy = text("REMOTE_PROXY_PID");
    return new RemoteSite(
        URI.create(text("REMOTE_ENDPOINT")),
        text("AWS_ACCESS_KEY_ID"),
        text("AWS_SECRET_ACCESS_KEY"),
        Long.parseLong(text("REMOTE_SERVER_PID")),
        proxy.equals("none") ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(proxy)),
        Path.of(text("REMOTE_ACCESS_LOG")),
        Path.of(text("REMOTE_RESULTS")),
        Long.parseLong(text("REMOTE_RECORDS")));
  }

  private static String text(String name) {
    String value = System.getenv(name);
    if (value == null) {
      throw new IllegalStateException(
          "The environment has no " + name + "; start the programs by benchmarks/remote/run");
    }
    return value;
  }

  /**
   * Returns the name of a copy of a table: what a process has opened or read is known to it, so
   * each turn reads a copy of its own.
   */
  static String copy(String table, int number) {
    return "copies/" + table + "-" + number;
  }

  /** Returns the URI of a table. */
  static String table(String scheme, String name) {
    return scheme + "://" + BUCKET + "/" + name;
  }

  /** Leaves the secret out. */
  @Override
  public String toString() {
    return "RemoteSite[" + endpoint + "]";
  }
}
