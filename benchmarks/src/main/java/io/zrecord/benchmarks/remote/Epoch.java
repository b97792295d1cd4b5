package io.zrecord.benchmarks.remote;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import java.util.Locale;

/**
 * Measures a {@link ShuffledEpoch} by the feed, from the opening of the table on, and the part of
 * the time that a consumer waits that takes 1.2 times as long for its batches as they take to come.
 * Arguments: {@code hadoop} or {@code s3}.
 */
public final class Epoch {
  private static final double SLOWER = 1.2;

  private final RemoteSite site = RemoteSite.ofEnvironment();
  private final RemoteTables way;
  private double idleShare;

  private Epoch(RemoteTables way) {
    this.way = way;
  }

  public static void main(String[] arguments) {
    Epoch epoch = new Epoch(RemoteTables.valueOf(arguments[0].toUpperCase(Locale.ROOT)));
    for (int copy = 0; copy < RemoteSite.COPIES; copy++) {
      int small = copy;
      Meter.warmUp(() -> epoch.consume("small", small, 0));
    }
    epoch.measure();
  }

  private void measure() {
    Meter meter = new Meter(site, "epoch");
    Least least = Least.ofWhole(site.records() * RemoteSite.VALUE_BYTES);
    String contestant = way.contestant() + " feed";
    double seconds =
        meter.measure(contestant, least, () -> consume("binaries", 1, 0)).seconds();
    long batches = Least.parts(site.records(), ShuffledEpoch.BATCH);
    long stepNanos = (long) (SLOWER * seconds * 1e9 / batches);
    meter.measure(
        contestant + ", consumer of 1.2 times the transfer",
        least,
        () -> consume("binaries", 2, stepNanos),
        () -> String.format(Locale.ROOT, "%.2f %% idle", 100 * idleShare));
  }

  private void consume(String table, int copy, long stepNanos) {
    long start = System.nanoTime();
    try (RecordDataset dataset =
        RecordDataset.open(way.at(site, RemoteSite.copy(table, copy)), ReadOptions.defaults())) {
      double idleSeconds = ShuffledEpoch.consume(dataset, copy, stepNanos);
      idleShare = idleSeconds * 1e9 / (System.nanoTime() - start);
    }
  }
}
