package io.zrecord.benchmarks.remote;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.cache.BlockCache;
import io.zrecord.storage.cache.CachedStorage;
import io.zrecord.storage.local.LocalStorage;
import java.nio.file.Path;
import java.util.Locale;

/**
 * Measures a {@link ShuffledEpoch} of a table whose blocks are on the local disk, in a process that
 * has not seen the table, and of a local table. Arguments: {@code fill}, {@code cached} or
 * {@code local}, then {@code hadoop} or {@code s3}, the directory of local tables and the directory
 * of the cache.
 */
final class SecondEpoch {
  private static final long CACHE_BYTES = 8L << 30;
  private static final int WARM_UPS = 3;

  private SecondEpoch() {}

  public static void main(String[] arguments) {
    RemoteSite site = RemoteSite.ofEnvironment();
    RemoteTables way = RemoteTables.valueOf(arguments[1].toUpperCase(Locale.ROOT));
    Path local = Path.of(arguments[2]);
    for (int i = 0; i < WARM_UPS; i++) {
      consume(LocalStorage.at(local.resolve("small")), i);
    }
    Least least = Least.ofWhole(site.records() * RemoteSite.VALUE_BYTES);
    Meter meter = new Meter(site, "second-epoch");
    if (arguments[0].equals("local")) {
      Storage table = LocalStorage.at(local.resolve("binaries"));
      meter.measure("local table", least, () -> consume(table, 1));
      return;
    }
    BlockCache cache = BlockCache.at(Path.of(arguments[3]), CACHE_BYTES);
    Storage table =
        CachedStorage.of(way.at(site, RemoteSite.copy("binaries", 0)), cache);
    String epoch = arguments[0].equals("fill") ? "first epoch, fills the cache" : "second epoch";
    meter.measure(way.contestant() + ": " + epoch, least, () -> consume(table, 1));
  }

  private static void consume(Storage table, long seed) {
    try (RecordDataset dataset = RecordDataset.open(table, ReadOptions.defaults())) {
      ShuffledEpoch.consume(dataset, seed, 0);
    }
  }
}
