package io.zrecord.table;

import io.zrecord.internal.table.ManifestLog;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.testing.MemoryStorage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Prints how many bytes commits write that give a patch to shards scattered over a table. A
 * program, not a test.
 *
 * <pre>java ... io.zrecord.table.WideChangesFigures SHARDS FIELDS TOUCHED COMMITS</pre>
 */
public final class WideChangesFigures {
  private WideChangesFigures() {}

  /** Makes a table without files in memory, and commits to it. */
  public static void main(String[] args) {
    int count = Integer.parseInt(args[0]);
    int fields = Integer.parseInt(args[1]);
    int touched = Integer.parseInt(args[2]);
    int commits = Integer.parseInt(args[3]);
    AtomicLong written = new AtomicLong();
    CountingStorage storage = new CountingStorage(new MemoryStorage(), written);
    SimulatedTables.publish(storage, count, fields);
    double records = (double) bytesOfPatched(fields);
    System.out.printf(
        Locale.ROOT,
        "%,d shards, record of a shard with a patch %,.0f bytes, list files %,d%n",
        count,
        records,
        storage.list("list").size());
    Random random = new Random(1);
    double sum = 0;
    for (int commit = 1; commit <= commits; commit++) {
      written.set(0);
      storage.read.clear();
      int published = storage.published.size();
      commit(storage, random, touched);
      double factor = written.get() / (records * touched);
      sum += factor;
      if (commit <= 3 || commit % 10 == 0 || commits <= 20) {
        System.out.printf(
            Locale.ROOT,
            "commit %d of %,d shards: %,d bytes in %d files, %d reads, %.2f times the records"
                + " (mean %.2f), lists %d%n",
            commit,
            touched,
            written.get(),
            storage.published.size() - published,
            storage.read.size(),
            factor,
            sum / commit,
            new ManifestLog(storage).newest().orElseThrow().lists().size());
      }
    }
  }

  private static long bytesOfPatched(int fields) {
    AtomicLong written = new AtomicLong();
    CountingStorage storage = new CountingStorage(new MemoryStorage(), written);
    List<ShardSummary> shards = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      shards.add(patched(SimulatedTables.shard(i, fields), i));
    }
    new ManifestLog(storage).writeLists(shards, new ArrayList<>());
    return written.get() / 1000;
  }

  static ShardSummary patched(ShardSummary shard, long seed) {
    PatchRef patch = new PatchRef(
        new UUID(seed * 0x9e3779b97f4a7c15L, 5),
        4096 + 777 + 16,
        4096,
        777,
        (int) seed,
        shard.length());
    return new ShardSummary(
        shard.id(),
        shard.length(),
        shard.chunks(),
        shard.tables(),
        shard.valueBytes(),
        shard.partition(),
        patch,
        "");
  }

  private static void commit(CountingStorage storage, Random random, int touched) {
    TableSnapshot base = RecordTable.at(storage).latest();
    Set<Integer> ordinals = new HashSet<>();
    int count = base.shards().size();
    while (ordinals.size() < Math.min(touched, count)) {
      ordinals.add(touched >= count ? ordinals.size() : random.nextInt(count));
    }
    List<TableChange.Replacement> runs = ordinals.stream()
        .sorted()
        .map(ordinal -> {
          ShardSummary shard = base.shards().get(ordinal);
          return TableChange.Replacement.ofRows(shard, List.of(patched(shard, random.nextLong())));
        })
        .toList();
    storage.read.clear();
    ManifestLog log = new ManifestLog(storage);
    TableChange change =
        TableChange.rows(base, TableChange.Kind.DELETE, base.schema(), runs, Map.of());
    new Committer(storage, log)
        .commit(new ShardCommit(storage, log, change, OptionalLong.of(Long.MAX_VALUE)));
  }
}
