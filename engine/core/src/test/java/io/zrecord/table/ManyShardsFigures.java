package io.zrecord.table;

import com.sun.management.OperatingSystemMXBean;
import io.zrecord.RecordDataset;
import io.zrecord.read.IndexSet;
import io.zrecord.scan.ScanPlan;
import io.zrecord.scan.SplitSizing;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Prints how long a table of many shards takes to open, to plan and to append to. A program, not a
 * test.
 *
 * <pre>java -Xmx1g ... io.zrecord.table.ManyShardsFigures DIRECTORY SHARDS FIELDS</pre>
 */
public final class ManyShardsFigures {
  private static long processorNanos;

  private ManyShardsFigures() {}

  /** Writes the table unless the directory has one, and measures it in a new process. */
  public static void main(String[] args) {
    Path directory = Path.of(args[0]);
    int shards = Integer.parseInt(args[1]);
    AtomicLong written = new AtomicLong();
    Storage storage = new CountingStorage(LocalStorage.at(directory), written);
    RecordTable table = RecordTable.at(storage);
    if (!table.exists()) {
      SimulatedTables.publish(storage, shards, Integer.parseInt(args[2]));
      print("bytes of %,d shards: %,d; run again to measure", shards, written.get());
      return;
    }
    long start = System.nanoTime();
    TableSnapshot snapshot = table.latest();
    print("open: %.1f ms", since(start));

    start = System.nanoTime();
    snapshot.shards().get(snapshot.shardOf(snapshot.length() / 2));
    print("shard of one record: %.1f ms", since(start));

    start = System.nanoTime();
    IndexSet some = IndexSet.range(snapshot.length() / 3, snapshot.length() / 3 + 100_000);
    plan(table.latest(), some, SplitSizing.atLeast(8));
    print("open, and plan 100,000 records: %.1f ms", since(start));

    start = System.nanoTime();
    snapshot = table.latest();
    snapshot.loadShards(IndexSet.range(0, snapshot.length()));
    print("of it open and read the lists: %.1f ms", since(start));
    plan(snapshot, IndexSet.range(0, snapshot.length()), SplitSizing.exactly(10_000));
    print("open, and plan a scan of all shards: %.1f ms", since(start));

    start = System.nanoTime();
    RecordDataset.open(snapshot, RecordDataset.ReadOptions.defaults()).close();
    print("dataset: %.1f ms", since(start));
    System.gc();
    long used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    print("heap of the shards: %,d bytes; peak so far %,d", used, peak());

    ShardSummary added = Shards.write(storage, Shards.SCHEMA, 1);
    written.set(0);
    start = System.nanoTime();
    table.commit(Shards.append(OptionalLong.of(table.latest().version()), added));
    print("append of a shard: %.1f ms, %,d bytes written", since(start), written.get());
    print("shards: %,d", snapshot.shards().size());
  }

  private static List<ScanPlan.Split> plan(
      TableSnapshot snapshot, IndexSet indices, SplitSizing sizing) {
    return ScanPlan.divide(snapshot, Shards.SCHEMA.fields(), indices, sizing);
  }

  private static double since(long startNanos) {
    return (System.nanoTime() - startNanos) / 1e6;
  }

  private static long peak() {
    return ManagementFactory.getMemoryPoolMXBeans().stream()
        .filter(pool -> pool.getType() == MemoryType.HEAP)
        .map(MemoryPoolMXBean::getPeakUsage)
        .mapToLong(usage -> usage.getUsed())
        .sum();
  }

  /** Prints a line, and the time of all processors since the line before. */
  private static void print(String format, Object... arguments) {
    long now =
        ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    String line = String.format(Locale.ROOT, format, arguments);
    System.out.printf(
        Locale.ROOT, "%s (processors: %.1f ms)%n", line, (now - processorNanos) / 1e6);
    processorNanos = now;
  }
}
