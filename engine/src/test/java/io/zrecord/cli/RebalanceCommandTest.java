package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
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
          RecordDatasetWriter.append(table, schema, WriteOptions.defaults())) {
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
    try (RecordDataset dataset = RecordDataset.open(table)) {
      assertThat(dataset.version()).hasValue(5);
      assertThat(dataset.length()).isEqualTo(5);
    }
    assertThat(Cli.run("rebalance", table).out()).startsWith("rewrote 0 records");
    assertThat(Cli.run("rebalance", table, "--dry-run").out()).startsWith("nothing to rewrite");
    assertThat(Cli.run("verify", table, "--all-versions", "--no-progress").exitCode())
        .isZero();
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
