package io.zrecord.benchmarks;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Measures opening a table of 10,000 shards and planning a rebalance when there is nothing to do.
 * Argument: directory.
 */
public final class RebalancePlanBenchmark {
  private static final int RUNS = Effort.rounds(7);
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I64)
      .field("text", ElementType.UTF8)
      .build();

  private RebalancePlanBenchmark() {}

  public static void main(String[] arguments) throws IOException {
    int shards = Effort.of(10_000);
    Path path = Files.createTempDirectory(Path.of(arguments[0]), "plan").resolve("table");
    // Each shard that is being written holds files open.
    for (int written = 0; written < shards; written += 500) {
      append(path, Math.min(500, shards - written));
    }
    RebalanceOptions nothing = RebalanceOptions.defaults().withShardBytes(0, 1 << 30);
    measure("from the manifest", path, nothing);
    measure(
        "with the compression of each shard looked at",
        path,
        nothing.withCompression(Map.of("text", Compression.of(Codec.RAW))));
    delete(path);
  }

  private static void append(Path path, int shards) {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(path.toString(), SCHEMA, WriteOptions.defaults())) {
      for (int i = 0; i < shards; i++) {
        RecordAppender appender = writer.newAppender();
        appender.set("number", (long) i).set("text", "text of record " + i);
        appender.endRecord();
      }
      writer.commit();
    }
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
    LocalStorage.at(path.resolve("../..").normalize())
        .delete(String.valueOf(path.getName(path.getNameCount() - 2)));
  }
}
