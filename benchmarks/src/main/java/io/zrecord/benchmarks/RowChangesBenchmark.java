package io.zrecord.benchmarks;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.changes.TableChanges;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.ChangeBase;
import io.zrecord.table.MergeChange;
import io.zrecord.table.ShardChange;
import io.zrecord.table.ShardChangeWriter;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.locks.LockSupport;

/**
 * Counts what changes of records cost that tasks write: bytes, and heap.
 *
 * <p>10 M records of a number and 100 bytes, of which 0.1 % are changed 500 times, and what 100 of
 * these commits changed; 100 M numbers, of which a tenth is deleted by a condition, with tasks and
 * driver in one process of {@code -Xmx64m}. Arguments: a work directory, and {@code changes} or
 * {@code deletions}.
 */
public final class RowChangesBenchmark {
  private static final int VALUE_BYTES = 100;
  private static final int SHARDS = 40;
  private static final int BATCH = 8192;
  private static final int BLOCK_BYTES = 4096;
  private static final int TOLD_COMMITS = Effort.rounds(100);
  private static final int COMMITS = Effort.rounds(500);
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);

  private final Path work;
  private final Storage storage;
  private final Random random = new Random(7);

  private RowChangesBenchmark(Path work) {
    this.work = work;
    this.storage = LocalStorage.at(work);
  }

  public static void main(String[] arguments) throws IOException {
    Path work = Files.createDirectories(Path.of(arguments[0])).resolve("row-changes");
    RowChangesBenchmark benchmark = new RowChangesBenchmark(work);
    switch (arguments[1]) {
      case "changes" -> benchmark.changes();
      case "deletions" -> benchmark.deletions();
      default -> throw new IllegalArgumentException(arguments[1] + ": give changes or deletions");
    }
    Workplace.delete(work);
  }

  private void changes() throws IOException {
    Workplace.delete(work);
    long records = Effort.of(10_000_000L);
    byte[] value = Workplace.noise(VALUE_BYTES, 1);
    RecordSchema schema = RecordSchema.builder()
        .field("id", ElementType.I64)
        .field("value", ElementType.BYTES)
        .build();
    TableSnapshot table = write(schema, records, SHARDS, (writer, record) -> {
      value[(int) (record % VALUE_BYTES)]++;
      writer.putLong(0, record);
      writer.put(1, value, 0, VALUE_BYTES);
    });
    int changed = (int) Math.max(SHARDS, records / 1000);
    long first = table.version();
    long heap = 0;
    for (int i = 1; i <= COMMITS; i++) {
      long before = i == 1 ? Workplace.lengthOf(work) : 0;
      table = update(table, changed);
      if (i == 1) {
        Figure.atMost(
            "Bytes written by tasks that change " + changed + " of " + records + " values of "
                + VALUE_BYTES + " bytes, beside 1.1 times the values and 1 MiB a shard",
            (Workplace.lengthOf(work) - before)
                / (1.1 * changed * VALUE_BYTES + (double) SHARDS * (1 << 20)),
            1);
        heap = usedHeap();
      }
      if (i == TOLD_COMMITS) {
        told(first, table.version(), (long) changed * TOLD_COMMITS);
      }
    }
    System.out.printf(
        Locale.ROOT,
        "Used heap after one commit: %.1f MiB; after %d commits: %.1f MiB%n",
        heap / (double) (1 << 20),
        COMMITS,
        usedHeap() / (double) (1 << 20));
  }

  /** Changes scattered records; each shard is a task. */
  private TableSnapshot update(TableSnapshot table, int count) {
    SortedSet<Long> indices = new TreeSet<>();
    while (indices.size() < count) {
      indices.add(random.nextLong(table.length()));
    }
    MergeChange change = MergeChange.of(table);
    List<ShardSummary> shards = table.shards();
    for (int shard = 0; shard < shards.size(); shard++) {
      long first = table.firstIndex(shard);
      SortedSet<Long> here = indices.subSet(first, first + shards.get(shard).length());
      try (ShardChangeWriter writer = ShardChangeWriter.open(
          storage, ChangeBase.of(table), shards.get(shard), Set.of("value"))) {
        for (long index : here) {
          writer.update(index - first, "value", Workplace.noise(VALUE_BYTES, index));
        }
        change.change(writer.finish());
      }
    }
    return change.commit();
  }

  /** Counts the bytes that are read to tell what commits changed. */
  private void told(long from, long to, long changes) {
    CountingStorage counted = new CountingStorage(storage);
    TableChanges.of(counted)
        .between(from, to)
        .forEach(version -> version.shards().forEach(shard -> shard.read(counted)));
    long byVersion = counted.bytes();
    CountingStorage countedNet = new CountingStorage(storage);
    TableChanges.of(countedNet).net(from, to);
    long net = countedNet.bytes();
    System.out.printf(
        Locale.ROOT,
        "Bytes read for a change of %d commits: %.1f net, %.1f by version%n",
        TOLD_COMMITS,
        net / (double) changes,
        byVersion / (double) changes);
    Figure.atMost(
        "Bytes read for the changes of " + TOLD_COMMITS + " commits, beside 1.5 times the new "
            + "values and a block for each value before",
        (byVersion + changes * (double) VALUE_BYTES)
            / (changes * (1.5 * VALUE_BYTES + BLOCK_BYTES)),
        1);
  }

  private void deletions() throws IOException {
    Workplace.delete(work);
    long records = Effort.of(100_000_000L);
    RecordSchema schema = RecordSchema.builder().field("id", ElementType.I64).build();
    TableSnapshot table =
        write(schema, records, 100, (writer, record) -> writer.putLong(0, record * 7));
    long start = System.nanoTime();
    List<ShardChange> changes = new ArrayList<>();
    for (int shard = 0; shard < table.shards().size(); shard++) {
      changes.add(deletion(table, shard));
    }
    long peak = usedHeap();
    MergeChange change = MergeChange.of(table);
    changes.forEach(change::change);
    TableSnapshot after = change.commit();
    System.out.printf(
        Locale.ROOT,
        "Deleted %d of %d records by a condition in %.1f s; heap at most %d MiB, %d MiB used with "
            + "all changes%n",
        table.length() - after.length(),
        table.length(),
        (System.nanoTime() - start) / 1e9,
        Runtime.getRuntime().maxMemory() >> 20,
        peak >> 20);
  }

  /** Deletes the records whose number a condition selects. */
  private ShardChange deletion(TableSnapshot table, int shard) {
    ShardSummary summary = table.shards().get(shard);
    try (RecordDataset records = RecordDataset.open(table, ReadOptions.defaults());
        ShardChangeWriter writer =
            ShardChangeWriter.open(storage, ChangeBase.of(table), summary, Set.of())) {
      long first = table.firstIndex(shard);
      for (long next = 0; next < summary.length(); next += BATCH) {
        int count = (int) Math.min(BATCH, summary.length() - next);
        long[] indices = new long[count];
        for (int i = 0; i < count; i++) {
          indices[i] = first + next + i;
        }
        try (Batch batch = records.gather(indices, "id")) {
          for (int i = 0; i < count; i++) {
            if (batch.value("id", i).getLong() % 10 == 3) {
              writer.delete(next + i);
            }
          }
        }
      }
      return writer.finish();
    }
  }

  /** Puts the values of a record. */
  private interface Values {
    void put(ShardWriter writer, long record);
  }

  private TableSnapshot write(RecordSchema schema, long records, int shards, Values values) {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(work.toString(), schema, OPTIONS)) {
      for (int shard = 0; shard < shards; shard++) {
        ShardWriter appender = writer.newAppender().shard();
        for (long i = records * shard / shards; i < records * (shard + 1) / shards; i++) {
          values.put(appender, i);
          appender.endRecord();
        }
      }
      return writer.commit();
    }
  }

  /** Waits for the memory that only collected objects held. */
  private static long usedHeap() {
    for (int i = 0; i < 3; i++) {
      System.gc();
      LockSupport.parkNanos(100_000_000);
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }
}
