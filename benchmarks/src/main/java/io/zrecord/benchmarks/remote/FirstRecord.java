package io.zrecord.benchmarks.remote;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import java.util.Locale;

/**
 * Measures the first record of tables that this process has not seen, by a client that is warm:
 * each turn has a copy of the table. Arguments: {@code hadoop} or {@code s3}, the number of copies
 * to warm up and the number of copies that count.
 */
public final class FirstRecord {
  private final RemoteSite site = RemoteSite.ofEnvironment();
  private final Meter meter = new Meter(site, "first-record");
  private final RemoteTables way;

  private FirstRecord(RemoteTables way) {
    this.way = way;
  }

  public static void main(String[] arguments) {
    FirstRecord measured =
        new FirstRecord(RemoteTables.valueOf(arguments[0].toUpperCase(Locale.ROOT)));
    int counting = Integer.parseInt(arguments[1]);
    int end = counting + Integer.parseInt(arguments[2]);
    for (int copy = 0; copy < end; copy++) {
      measured.turn(copy, copy >= counting);
    }
  }

  private void turn(int copy, boolean counts) {
    measure(
        "first record of 8 shards",
        RemoteSite.VALUE_BYTES,
        counts,
        () -> first(RemoteSite.copy("small", copy), "bin"));
    measure(
        "first record of 100 shards of 27 fields",
        Long.BYTES,
        counts,
        () -> first(RemoteSite.copy("wide", copy), "number 7"));
    measure(
        "planning of 100 shards of 27 fields",
        0,
        counts,
        () -> RecordTable.at(way.at(site, RemoteSite.copy("planned", copy)))
            .latest()
            .shards());
  }

  private void measure(String question, long bytes, boolean counts, Meter.Work work) {
    if (counts) {
      meter.measure(way.contestant() + ": " + question, new Least(bytes, 1), work);
    } else {
      Meter.warmUp(work);
    }
  }

  private void first(String table, String field) {
    Storage storage = way.at(site, table);
    try (RecordDataset dataset = RecordDataset.open(storage, ReadOptions.defaults());
        Batch batch = dataset.gather(new long[] {dataset.length() / 2}, field)) {
      batch.bytes(field, 0);
    }
  }
}
