package io.zrecord.benchmarks;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.read.IndexSet;
import io.zrecord.scan.ScanPlan;
import io.zrecord.scan.SplitSizing;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;
import java.util.function.LongSupplier;

/**
 * Measures how the engine grows with records and with shards: two scalars a record, {@code (i64,
 * f32)}. Opening is from nothing to a snapshot with its list of shards. Planning is a full scan of
 * both fields for two cores, and a scan of a thousand scattered indices. Neither opens a data file.
 * Figures are medians of five with a warm page cache; writing and committing happen once.
 *
 * <p>The greatest number of records is 10⁸, that of shards 10⁵. Argument: a work directory
 * (default: in the temporary directory). Run it with {@code -Xmx512m}: the driver of 10⁵ tasks
 * commits 10⁵ shards in this way.
 */
public final class GrowthBenchmark {
  private static final int REPEATS = Effort.rounds(5);
  private static final int SEED = 11;
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("id", ElementType.I64)
      .field("weight", ElementType.F32)
      .build();
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);

  /** Results go here, so that no work is optimized away. */
  private static long consumed;

  private GrowthBenchmark() {}

  public static void main(String[] arguments) throws IOException {
    Path work = arguments.length > 0
        ? Files.createDirectories(Path.of(arguments[0]))
        : Files.createTempDirectory("growth-benchmark");
    long mostRecords = Math.max(10_000, Effort.of(100_000_000));
    int mostShards = Math.max(10, Effort.of(100_000));
    long records = 10L * mostShards;
    System.out.printf(
        "%n| records | shards | write (s) | commit (s) | open (s) | plan a scan (s) | plan 1,000 indices (s) | gather these, first (s) | again (s) | scan (M records/s) |"
            + "%n|---|---|---|---|---|---|---|---|---|---|%n");
    for (long ofOneShard = 10_000; ofOneShard <= mostRecords; ofOneShard *= 10) {
      measure(work.resolve("table"), ofOneShard, 1);
    }
    for (int shards = 10; shards <= mostShards; shards *= 10) {
      measure(work.resolve("table"), records, shards);
    }
    System.out.printf(
        Locale.ROOT,
        "%nHeap at most: %d MiB (results %x)%n",
        Runtime.getRuntime().maxMemory() >> 20,
        consumed);
  }

  private static void measure(Path path, long records, int shards) throws IOException {
    Storage storage = LocalStorage.at(path);
    long start = System.nanoTime();
    List<ShardSummary> written = new ArrayList<>(shards);
    for (int shard = 0; shard < shards; shard++) {
      written.add(write(storage, records * shard / shards, records * (shard + 1) / shards));
    }
    long end = System.nanoTime();
    RecordTable.at(storage)
        .commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA).shards(written).build());
    double committing = (System.nanoTime() - end) / 1e9;
    double writing = (end - start) / 1e9;
    double opening = median(() -> RecordTable.at(storage).latest().length());
    TableSnapshot table = RecordTable.at(storage).latest();
    double planning = median(() -> plan(table, IndexSet.range(0, records)));
    long[] scattered = new Random(SEED).longs(1_000, 0, records).toArray();
    double planningFew = median(() -> plan(table, IndexSet.of(scattered)));
    RecordDataset dataset = RecordDataset.open(table, ReadOptions.defaults());
    long before = System.nanoTime();
    consumed += gather(dataset, scattered);
    double first = (System.nanoTime() - before) / 1e9;
    double again = median(() -> gather(dataset, scattered));
    double scanning = shards <= 1_000 ? median(() -> scan(dataset)) : Double.NaN;
    System.out.printf(
        Locale.ROOT,
        "| %,d | %,d | %.3f | %.4f | %.4f | %.4f | %.4f | %.4f | %.4f | %s |%n",
        records,
        shards,
        writing,
        committing,
        opening,
        planning,
        planningFew,
        first,
        again,
        Double.isNaN(scanning) ? "" : String.format(Locale.ROOT, "%.1f", records / scanning / 1e6));
    delete(path);
  }

  private static ShardSummary write(Storage storage, long from, long to) {
    try (ShardWriter shard = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, OPTIONS)) {
      for (long record = from; record < to; record++) {
        shard.putLong(0, record);
        shard.putFloat(1, record * 0.5f);
        shard.endRecord();
      }
      return shard.finish().orElseThrow();
    }
  }

  private static long plan(TableSnapshot table, IndexSet indices) {
    return ScanPlan.divide(table, table.schema().fields(), indices, SplitSizing.atLeast(4))
        .size();
  }

  private static long gather(RecordDataset dataset, long[] indices) {
    try (Batch batch = dataset.gather(indices)) {
      return batch.value("id", indices.length - 1).remaining();
    }
  }

  private static long scan(RecordDataset dataset) {
    byte[] target = new byte[1 << 20];
    long bytes = 0;
    for (String field : new String[] {"id", "weight"}) {
      var reader = dataset.reader(field);
      for (long next = 0; next < dataset.length(); ) {
        int most = (int) Math.min(1 << 16, dataset.length() - next);
        next += reader.selectRange(next, most, target.length);
        reader.copyAll(target, 0);
        bytes += reader.totalLengthBytes();
      }
    }
    return bytes;
  }

  private static double median(LongSupplier work) {
    double[] seconds = new double[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
      long start = System.nanoTime();
      consumed += work.getAsLong();
      seconds[i] = (System.nanoTime() - start) / 1e9;
    }
    return Contest.median(seconds);
  }

  private static void delete(Path directory) throws IOException {
    try (var paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
