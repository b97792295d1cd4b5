package io.zrecord.benchmarks.remote;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Measures gathers of 256 random records of 64 KiB. Each gather is of a copy of the table that is
 * open and of whose shards one record each was read, so that the shards' tables are known and the
 * values are not. Arguments: {@code hadoop} or {@code s3}, and a number that the random records
 * depend on.
 */
public final class Gather {
  private static final int BATCH = 256;
  private static final int WARM_UPS = 40;
  private static final int GATHERS = 5;

  private final RemoteSite site = RemoteSite.ofEnvironment();
  private final Meter meter = new Meter(site, "gather");
  private final ByteBuffer target = ByteBuffer.allocateDirect(BATCH * RemoteSite.VALUE_BYTES);
  private final RemoteTables way;
  private final Random random;

  private Gather(RemoteTables way, Random random) {
    this.way = way;
    this.random = random;
  }

  public static void main(String[] arguments) {
    Gather measured = new Gather(
        RemoteTables.valueOf(arguments[0].toUpperCase(Locale.ROOT)),
        new Random(Long.parseLong(arguments[1])));
    for (int copy = 0; copy < WARM_UPS + GATHERS; copy++) {
      measured.turn(copy, copy >= WARM_UPS);
    }
  }

  private void turn(int copy, boolean counts) {
    Storage storage = way.at(site, RemoteSite.copy("binaries", copy % RemoteSite.COPIES));
    TableSnapshot table = RecordTable.at(storage).latest();
    try (RecordDataset dataset = RecordDataset.open(table, ReadOptions.defaults())) {
      long[] firsts =
          IntStream.range(0, table.shards().size()).mapToLong(table::firstIndex).toArray();
      dataset.gather(firsts, "bin").close();
      // Without duplicates, so that the least is known.
      long[] indices = random
          .longs(0, dataset.length())
          .distinct()
          .limit(Math.min(BATCH, dataset.length()))
          .toArray();
      if (counts) {
        meter.measure(
            way.contestant(),
            Least.ofScattered(indices.length, RemoteSite.VALUE_BYTES),
            () -> gather(dataset, indices));
      } else {
        Meter.warmUp(() -> gather(dataset, indices));
      }
    }
  }

  private void gather(RecordDataset dataset, long[] indices) {
    try (Batch batch = dataset.gather(indices, "bin")) {
      batch.copyAll("bin", target.clear());
    }
  }
}
