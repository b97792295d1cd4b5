package io.zrecord.benchmarks.remote;

/**
 * Measures what Spark asks of a table of 100 shards of 27 fields before the first task, by a client
 * that is warm: each turn has a copy of the table. Arguments: the number of copies to warm up and
 * the number of copies that count.
 */
public final class SparkPlanning {
  private SparkPlanning() {}

  public static void main(String[] arguments) {
    RemoteSite site = RemoteSite.ofEnvironment();
    Meter meter = new Meter(site, "first-record");
    int counting = Integer.parseInt(arguments[0]);
    int end = counting + Integer.parseInt(arguments[1]);
    try (SparkOverS3 spark = new SparkOverS3(site)) {
      for (int copy = 0; copy < end; copy++) {
        String table = RemoteSite.copy("spark", copy);
        Meter.Work plan = () -> spark
            .load("zrecord", table)
            .select("number 7")
            .queryExecution()
            .toRdd()
            .getNumPartitions();
        if (copy >= counting) {
          meter.measure(
              "zrecord by Spark: planning of 100 shards of 27 fields", new Least(0, 1), plan);
        } else {
          Meter.warmUp(plan);
        }
      }
    }
  }
}
