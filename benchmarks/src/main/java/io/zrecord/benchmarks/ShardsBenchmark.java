package io.zrecord.benchmarks;

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
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * Measures tables of 10⁵ and of 10⁶ shards: opening and planning a scan, the heap that the table
 * and its plan take, and the bytes of a commit that adds one shard. One small shard takes the part
 * of all, because neither opening nor planning opens a shard.
 *
 * <p>Argument: a work directory. Run it with {@code -Xmx1g}.
 */
public final class ShardsBenchmark {
  private static final int REPEATS = Effort.rounds(5);
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.I64).build();

  private final Path path;
  private final Storage storage;
  private final ShardSummary shard;

  /** A table with the plan of a scan of all its records. */
  private record Planned(TableSnapshot table, List<ScanPlan.Split> splits) {}

  private ShardsBenchmark(Path path) {
    this.path = path;
    this.storage = LocalStorage.at(path);
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, options)) {
      writer.putLong(0, 1);
      writer.endRecord();
      this.shard = writer.finish().orElseThrow();
    }
  }

  public static void main(String[] arguments) throws IOException {
    Path path = Files.createDirectories(Path.of(arguments[0])).resolve("shards");
    long fewer = measure(path, Effort.of(100_000), 0.3);
    long more = measure(path, Effort.of(1_000_000), 3);
    Figure.atMost(
        "Bytes of a commit beside those with a tenth of the shards", (double) more / fewer, 1.1);
  }

  private static long measure(Path path, int shards, double askedSeconds) throws IOException {
    Workplace.delete(path);
    long committed = new ShardsBenchmark(path).measure(shards, askedSeconds);
    Workplace.delete(path);
    return committed;
  }

  private long measure(int shards, double askedSeconds) throws IOException {
    System.out.printf(Locale.ROOT, "%n%,d shards%n", shards);
    commit(TableChange.Kind.CREATE, OptionalLong.empty(), shards);
    long before = Workplace.lengthOf(path);
    commit(TableChange.Kind.APPEND, OptionalLong.of(0), 1);
    long committed = Workplace.lengthOf(path) - before;
    double[] seconds = new double[REPEATS];
    for (int i = -1; i < REPEATS; i++) {
      long start = System.nanoTime();
      long splits = plan().splits().size();
      if (splits == 0) {
        throw new IllegalStateException("nothing was planned");
      }
      if (i >= 0) {
        seconds[i] = (System.nanoTime() - start) / 1e9;
      }
    }
    Figure.atMost("Seconds to open and to plan a scan", Contest.median(seconds), askedSeconds);
    long empty = heapBytes();
    Planned planned = plan();
    double mebibytes = (heapBytes() - empty) / (double) (1 << 20);
    Figure.atMost("MiB of heap of " + planned.splits().size() + " splits", mebibytes, 1024);
    System.out.printf(Locale.ROOT, "Bytes of a commit of one shard: %,d%n", committed);
    return committed;
  }

  private void commit(TableChange.Kind kind, OptionalLong base, int shards) {
    RecordTable.at(storage)
        .commit(TableChange.of(kind, SCHEMA)
            .baseVersion(base)
            .shards(Collections.nCopies(shards, shard))
            .build());
  }

  private Planned plan() {
    TableSnapshot table = RecordTable.at(storage).latest();
    IndexSet all = IndexSet.range(0, table.length());
    return new Planned(
        table, ScanPlan.divide(table, table.schema().fields(), all, SplitSizing.atLeast(4)));
  }

  private static long heapBytes() {
    System.gc();
    Runtime runtime = Runtime.getRuntime();
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
