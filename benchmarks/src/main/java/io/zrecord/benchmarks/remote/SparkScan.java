package io.zrecord.benchmarks.remote;

import java.util.List;

/**
 * Measures scans by Spark of zrecord and of Parquet, and plain requests for the same bytes by as
 * many connections as the scan of zrecord had at most. The Parquet files are written first, from
 * the local table, if they do not exist. Contestants take turns in one warm process. Arguments: the
 * directory of the local table {@code binaries}, and the number of turns.
 */
public final class SparkScan {
  private static final String QUESTION = "sum(length(bin))";

  /** Turns that are not measured. After fewer, the compilers still take a part of both cores. */
  private static final int WARM_UPS = 15;

  private SparkScan() {}

  public static void main(String[] arguments) throws InterruptedException {
    RemoteSite site = RemoteSite.ofEnvironment();
    Meter meter = new Meter(site, "spark-scan");
    try (SparkOverS3 spark = new SparkOverS3(site);
        PlainS3 server = new PlainS3(site)) {
      if (server.list("parquet/").isEmpty()) {
        spark.save(spark.loadLocal(arguments[0]), "parquet", "parquet");
      }
      List<PlainS3.Range> ranges = PlainS3.ranges(server.list("binaries/"), ".zr");
      Least whole = Least.ofWhole(site.records() * RemoteSite.VALUE_BYTES);
      int connections = 1;
      for (int round = -WARM_UPS; round < Integer.parseInt(arguments[1]); round++) {
        int copy = Math.floorMod(round, RemoteSite.COPIES);
        for (String format : List.of("zrecord", "parquet")) {
          String table = format.equals("zrecord") ? RemoteSite.copy("binaries", copy) : format;
          Meter.Work scan = () -> spark.load(format, table).selectExpr(QUESTION).first();
          if (round >= 0) {
            meter.measure(format + " by Spark", whole, scan);
          } else {
            Meter.warmUp(scan);
            if (format.equals("zrecord")) {
              connections = Math.max(1, SentRequests.order().atOnce());
            }
          }
        }
        for (int some : round < 0 ? new int[] {connections} : new int[] {1, connections}) {
          Meter.Work plain = () -> server.get(ranges, some);
          if (round >= 0) {
            meter.measure(PlainRequests.name(some), PlainRequests.least(ranges), plain);
          } else {
            Meter.warmUp(plain);
          }
        }
      }
    }
  }
}
