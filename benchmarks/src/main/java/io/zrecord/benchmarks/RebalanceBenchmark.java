package io.zrecord.benchmarks;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.RebalanceResult;
import io.zrecord.rebalance.TableRebalance;
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
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;

/**
 * Rewrites a table of shards of 8 MiB to shards of 1 GiB, against {@code cp} of its bytes on the
 * same disk. Also measures scans of the table before, after, and of a table that was written at
 * once, and a plan that finds nothing to do. Values of 4 KiB and of 64 KiB that cannot be
 * compressed, with an i64 each. Contestants take turns; figures are medians of three.
 *
 * <p>10 GiB for each of the two. It needs twice as much space. Argument: a work directory.
 */
public final class RebalanceBenchmark {
  private static final long SHARD_BYTES = 8 << 20;
  private static final int QUIET_SHARDS = Effort.of(10_000);
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("id", ElementType.I64)
      .field("data", ElementType.BYTES)
      .build();

  private final Path work;
  private final Path fragmented;
  private final Path target;
  private final int width;
  private final long records;

  RebalanceBenchmark(Path work, int width, long totalBytes) {
    this.work = work;
    this.fragmented = work.resolve("fragmented");
    this.target = work.resolve("target");
    this.width = width;
    this.records = totalBytes / width;
  }

  public static void main(String[] arguments) throws IOException {
    Path work = Files.createDirectories(Path.of(arguments[0]));
    long totalBytes = Effort.of(10L << 30);
    for (int width : new int[] {4 << 10, 64 << 10}) {
      new RebalanceBenchmark(work.resolve("rebalance-" + width), width, totalBytes).measure();
    }
    planNothing(work.resolve("rebalance-nothing"));
  }

  private void measure() throws IOException {
    Workplace.delete(work);
    Contest contest = new Contest(title(), 1, 3);
    addTo(contest);
    contest.run();
    prepare(fragmented);
    rebalance(target, Durability.NONE);
    scan();
    Workplace.delete(work);
  }

  /** Returns the title of the contest. */
  String title() {
    return records * width / (1 << 20) + " MiB of " + width / 1024 + " KiB values rewritten";
  }

  /** Writes the table, and adds the contestants that rewrite and copy it. */
  void addTo(Contest contest) {
    write(fragmented, SHARD_BYTES);
    contest.add(
        "zrecord, not forced to disk",
        () -> prepare(fragmented),
        () -> rebalance(target, Durability.NONE));
    contest.add("cp", this::clear, () -> copy(fragmented));
    contest.add(
        "zrecord, forced to disk",
        () -> prepare(fragmented),
        () -> rebalance(target, Durability.COMMIT));
    contest.add("cp and sync", this::clear, () -> {
      copy(fragmented);
      Workplace.run("sync");
    });
  }

  private void scan() throws IOException {
    double alive = (double) records * (width + 8);
    System.out.printf(
        Locale.ROOT,
        "%nBytes of values over bytes of the files of the new version: %.4f%n",
        alive / namedBytes(target));
    Path fresh = work.resolve("fresh");
    write(fresh, Long.MAX_VALUE);
    Contest contest = new Contest("scan of all values, table opened anew");
    contest.add("zrecord, rebalanced", () -> scan(target));
    contest.add("zrecord, written at once", () -> scan(fresh));
    contest.add("zrecord, before", () -> scan(fragmented));
    contest.run();
  }

  private static long namedBytes(Path table) {
    return RecordTable.at(LocalStorage.at(table)).latest().shards().stream()
        .mapToLong(ShardSummary::chunkBytes)
        .sum();
  }

  private static void scan(Path table) {
    byte[] target = new byte[4 << 20];
    try (RecordDataset dataset = RecordDataset.open(
        RecordTable.at(LocalStorage.at(table)).latest(), ReadOptions.defaults())) {
      var id = dataset.reader("id");
      var data = dataset.reader("data");
      for (long next = 0; next < dataset.length(); ) {
        int most = (int) Math.min(1 << 16, dataset.length() - next);
        int count = data.selectRange(next, most, target.length);
        data.copyAll(target, 0);
        id.selectRange(next, count, target.length);
        id.copyAll(target, 0);
        next += count;
      }
    }
  }

  private static void rebalance(Path table, Durability durability) {
    RebalanceOptions options = RebalanceOptions.defaults();
    RebalancePlan plan = RebalancePlan.of(
        RecordTable.at(LocalStorage.at(table)).latest(),
        options.withWrite(options.write().withDurability(durability)));
    RebalanceResult result = TableRebalance.of(plan).run();
    if (!result.failures().isEmpty() || result.records() != plan.snapshot().length()) {
      throw new IllegalStateException("Not everything was rewritten: " + result);
    }
  }

  private void write(Path table, long shardBytes) {
    Storage storage = LocalStorage.at(table);
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    byte[] noise = Workplace.noise(width + 4096, width);
    List<ShardSummary> shards = new ArrayList<>();
    for (long record = 0; record < records; ) {
      try (ShardWriter shard = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, options)) {
        for (long bytes = 0; bytes < shardBytes && record < records; bytes += width, record++) {
          shard.putLong(0, record);
          shard.put(1, noise, (int) (record % 4096), width);
          shard.endRecord();
        }
        shards.add(shard.finish().orElseThrow());
      }
    }
    commit(storage, shards);
  }

  private static void commit(Storage storage, List<ShardSummary> shards) {
    RecordTable.at(storage)
        .commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA).shards(shards).build());
  }

  /** Plans a table that needs no care: its shards are as large as wanted. */
  private static void planNothing(Path path) throws IOException {
    Workplace.delete(path);
    Storage storage = LocalStorage.at(path);
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    List<ShardSummary> shards = new ArrayList<>();
    for (int i = 0; i < QUIET_SHARDS; i++) {
      try (ShardWriter shard = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, options)) {
        shard.putLong(0, i);
        shard.put(1, new byte[4096], 0, 4096);
        shard.endRecord();
        shards.add(shard.finish().orElseThrow());
      }
    }
    commit(storage, shards);
    Contest contest = new Contest("a plan for " + QUIET_SHARDS + " shards that need nothing");
    contest.add("zrecord", () -> {
      TableSnapshot table = RecordTable.at(storage).latest();
      RebalanceOptions wanted = RebalanceOptions.defaults().withShardBytes(1, 1 << 20);
      if (!RebalancePlan.of(table, wanted).groups().isEmpty()) {
        throw new IllegalStateException("There is something to do");
      }
    });
    contest.run();
    Workplace.delete(path);
  }

  /** Makes the target hard links to a directory's files. */
  void prepare(Path directory) {
    clear();
    Workplace.run("cp", "-al", directory.toString(), target.toString());
  }

  /** Makes the target a copy of a directory. */
  void copy(Path directory) {
    Workplace.run("cp", "-r", directory.toString(), target.toString());
  }

  /** Deletes the target and lets the disk come to rest. */
  void clear() {
    try {
      Workplace.delete(target);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Workplace.run("sync");
  }

  /**
   * Returns the directory that contestants change or write. Each contestant finds it as its
   * preparation left it.
   */
  Path target() {
    return target;
  }
}
