package io.zrecord.benchmarks.remote;

import java.util.List;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * Measures what the network gives: plain requests for ranges of 8 MiB of the table
 * {@code binaries}, by some connections. Arguments: the case to note them for, then numbers of
 * connections.
 */
public final class PlainRequests {
  private PlainRequests() {}

  public static void main(String[] arguments) throws InterruptedException {
    RemoteSite site = RemoteSite.ofEnvironment();
    Meter meter = new Meter(site, arguments[0]);
    try (PlainS3 server = new PlainS3(site)) {
      List<PlainS3.Range> ranges = PlainS3.ranges(server.list("binaries/"), ".zr");
      List<S3Object> small = server.list("copies/small-0/");
      for (int i = 1; i < arguments.length; i++) {
        int connections = Integer.parseInt(arguments[i]);
        server.get(PlainS3.ranges(small, ".zr"), connections);
        meter.measure(name(connections), least(ranges), () -> server.get(ranges, connections));
      }
    }
  }

  /** Returns the name of the contestant in the results. */
  static String name(int connections) {
    return "plain GETs of 8 MiB, " + connections
        + (connections == 1 ? " connection" : " connections");
  }

  static Least least(List<PlainS3.Range> ranges) {
    long bytes = 0;
    for (PlainS3.Range range : ranges) {
      bytes += range.to() - range.from();
    }
    return new Least(bytes, ranges.size());
  }
}
