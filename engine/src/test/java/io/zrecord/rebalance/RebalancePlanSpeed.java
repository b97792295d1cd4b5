package io.zrecord.rebalance;

import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.storage.LocalStorage;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Measures what opening a table and planning costs, when nothing is to be done. Run it with the number of shards. */
public final class RebalancePlanSpeed {
  private static final int RUNS = 7;

  private RebalancePlanSpeed() {}

  public static void main(String[] arguments) throws IOException {
    int shards = Integer.parseInt(arguments[0]);
    Path path = Files.createTempDirectory("plan-speed").resolve("table");
    List<Integer> expected = new ArrayList<>();
    // Each shard that is being written holds files open.
    for (int written = 0; written < shards; written += 500) {
      TableData.appendShards(path, expected, Math.min(500, shards - written), 1);
    }
    RebalanceOptions nothing = RebalanceOptions.defaults().withShardBytes(0, 1 << 30);
    measure("from the manifest", path, nothing);
    measure(
        "with the compression of each shard looked at",
        path,
        nothing.withCompression(Map.of("text", Compression.of(Codec.RAW))));
    delete(path);
  }

  private static void measure(String what, Path path, RebalanceOptions options) {
    for (int run = 0; run < RUNS; run++) {
      long begin = System.nanoTime();
      Storage storage = LocalStorage.at(path);
      RebalancePlan plan = RebalancePlan.of(RecordTable.at(storage).latest(), options);
      long nanos = System.nanoTime() - begin;
      System.out.printf(
          "%s: %,d shards, %d groups, %d ms%n",
          what, plan.snapshot().shards().size(), plan.groups().size(), nanos / 1_000_000);
    }
  }

  private static void delete(Path path) {
    LocalStorage.at(path.toAbsolutePath().getParent()).delete("table");
  }
}
