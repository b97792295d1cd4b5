package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreOptions;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** rebalance: what it prints, and its exit codes. */
final class RebalanceCommandTest {
  @TempDir
  Path directory;

  private Path table;

  @BeforeEach
  void write() {
    table = directory.resolve("table");
    RecordSchema schema =
        RecordSchema.builder().field("number", ElementType.I64).build();
    for (int i = 0; i < 5; i++) {
      try (RecordDatasetWriter writer =
          RecordDatasetWriter.append(table.toString(), schema, WriteOptions.defaults())) {
        RecordAppender appender = writer.newAppender();
        appender.set("number", (long) i).endRecord();
        writer.commit();
      }
    }
  }

  @Test
  void aDryRunSaysWhatARunThenDoes() {
    Cli.Said plan = Cli.run("rebalance", table, "--dry-run");
    assertThat(plan.exitCode()).isZero();
    assertThat(plan.lines().get(0)).startsWith("would rewrite 5 shards, records 0 to 4");
    assertThat(Cli.run("rebalance", table, "--dry-run", "--json").out())
        .contains("\"groups\":1,\"records\":5");
    Cli.Said done = Cli.run("rebalance", table, "--no-progress", "--json");
    assertThat(done.exitCode()).isZero();
    assertThat(done.out()).contains("\"shardsBefore\":5,").contains("\"shardsAfter\":1,");
    try (RecordDataset dataset = RecordDataset.open(table.toString())) {
      assertThat(dataset.version()).hasValue(5);
      assertThat(dataset.length()).isEqualTo(5);
    }
    assertThat(Cli.run("rebalance", table).out()).startsWith("rewrote 0 records");
    assertThat(Cli.run("rebalance", table, "--dry-run").out()).startsWith("nothing to rewrite");
    assertThat(Cli.run("verify", table, "--all-versions", "--no-progress").exitCode())
        .isZero();
  }

  @Test
  void aStoreIsRewrittenIfItIsWorthIt() {
    Path store = directory.resolve("store");
    RecordSchema schema = RecordSchema.builder().field("text", ElementType.UTF8).build();
    try (RecordStore open = RecordStore.create(store, schema, StoreOptions.defaults())) {
      for (int i = 0; i < 100; i++) {
        open.append(open.newValues().set("text", "text " + i));
      }
      for (int i = 0; i < 50; i++) {
        open.delete(0);
      }
      open.checkpoint();
      assertThat(Cli.run("rebalance", store, "--dry-run").out())
          .startsWith("would rewrite")
          .contains("sparse");
      Cli.Said locked = Cli.run("rebalance", store);
      assertThat(locked.exitCode()).isEqualTo(ExitCodes.FAILED);
      assertThat(locked.err()).contains("has it open");
    }
    assertThat(Cli.run("rebalance", store, "--indices", "0-3").err()).contains("for tables");
    assertThat(Cli.run("rebalance", store, "--align-bytes", "64").err()).contains("for tables");
    assertThat(Cli.run("rebalance", store, "--dry-run", "--json").out())
        .contains("\"records\":50", "\"reasons\":[\"sparse\"]");
    Cli.Said done = Cli.run("rebalance", store, "--no-progress", "--json");
    assertThat(done.exitCode()).isZero();
    assertThat(done.lines()).hasSize(1);
    assertThat(done.out()).contains("\"rewritten\":true", "\"chunksAfter\":1");
    assertThat(Cli.run("rebalance", store).out())
        .startsWith("nothing to rewrite: 50 records")
        .contains("100.0 % of them alive");
    assertThat(Cli.run("rebalance", store, "--compression", "text=zstd", "--dry-run")
            .out())
        .contains("compression");
    assertThat(Cli.run("verify", store, "--no-progress").exitCode()).isZero();
    assertThat(Cli.run("get", store, "1").out()).contains("text");
  }

  @Test
  void allShardsAreLaidOutAnew() {
    Cli.run("rebalance", table);
    assertThat(Cli.run("rebalance", table, "--align-bytes", "16", "--dry-run").out())
        .startsWith("nothing to rewrite");
    Cli.Said plan = Cli.run("rebalance", table, "--all", "--align-bytes", "16", "--dry-run");
    assertThat(plan.out()).startsWith("would rewrite 1 shards").contains("[small, all]");
    // The numbers together are longer than 16 bytes.
    assertThat(Cli.run("rebalance", table, "--all", "--align-bytes", "1k", "--json")
            .out())
        .contains("\"chunkBytesAfter\":104,");
    assertThat(Cli.run("rebalance", table, "--all", "--align-bytes", "32", "--json")
            .out())
        .contains("\"chunkBytesAfter\":104,");
    assertThat(Cli.run("rebalance", table, "--all", "--max-bytes", "5g").err())
        .contains("range of indices");
    assertThat(Cli.run("rebalance", table, "--all", "--block-bytes", "1m", "--transform", "delta")
            .exitCode())
        .isZero();
    assertThat(Cli.run("rebalance", table, "--block-bytes", "1k").err())
        .contains("blockBytes is 1024");
    assertThat(Cli.run("rebalance", table, "--align-bytes", "48").err())
        .contains("alignBytes is 48", "a power of two");
    assertThat(Cli.run("verify", table, "--no-progress").exitCode()).isZero();
  }

  @Test
  void wrongArgumentsSayWhatIsAllowed() {
    assertThat(Cli.run("rebalance", table, "--indices", "3").err()).contains("0-1000000");
    assertThat(Cli.run("rebalance", table, "--max-bytes", "lots").err()).contains("64m");
    Cli.Said compression = Cli.run("rebalance", table, "--compression", "text=zstd");
    assertThat(compression.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(compression.err()).contains("'text'").contains("number");
    assertThat(Cli.run("rebalance", directory.resolve("none")).exitCode())
        .isEqualTo(ExitCodes.USAGE);
  }
}
