package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands that delete and change records of a table. */
final class RowCommandsTest {
  @TempDir
  Path directory;

  private Path table;

  @BeforeEach
  void write() {
    table = directory.resolve("table");
    RecordSchema schema = RecordSchema.builder()
        .field("label", ElementType.I32)
        .field("text", ElementType.UTF8)
        .build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(table.toString(), schema, WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < 5; i++) {
        records.set("label", i).set("text", "text " + i).endRecord();
      }
      writer.commit();
    }
  }

  private String record(int index) {
    return Cli.run("get", table, index, "--as", "json").out();
  }

  @Test
  void recordsOfATableAreDeleted() {
    Cli.Said said = Cli.run("delete", table, 3, 0, 3);
    assertThat(said.lines()).containsExactly("deleted 2 records; 3 are left in version 1");
    assertThat(record(0)).contains("\"text 1\"");
    assertThat(record(2)).contains("\"text 4\"");
    assertThat(Cli.run("delete", table, 3).exitCode()).isNotZero();
    assertThat(Cli.run("verify", table).exitCode()).isZero();
  }

  @Test
  void valuesOfATableAreChanged() {
    Cli.Said said = Cli.run("update", table, 1, 2, "--set", "label=70", "--absent", "text");
    assertThat(said.lines()).containsExactly("updated 2 records; " + table + " is at version 1");
    assertThat(record(2)).contains("70").contains("null");
    assertThat(record(3)).contains("\"text 3\"");
    assertThat(Cli.run("update", table, 1).exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(Cli.run("update", table, 1, "--set", "none=1").exitCode()).isNotZero();
    assertThat(Cli.run("verify", table).exitCode()).isZero();
  }

  @Test
  void infoAndItsChunksSayTheSame() {
    assertThat(utilization()).startsWith("utilization: 100.0 % (5 of 5) records, ");
    Cli.run("fields", "drop", table, "text");
    String live = Cli.run("info", table, "--chunks", "--json").out();
    assertThat(live).contains("\"valueBytes\":20,").contains("\"liveBytes\":20,");
    assertThat(utilization()).contains("(20 of ");

    Cli.run("delete", table, 3, 0);
    assertThat(utilization())
        .isEqualTo("utilization: 60.0 % (3 of 5) records, bytes as --chunks counts them: records"
            + " were deleted or changed");
    assertThat(Cli.run("info", table, "--json").out())
        .contains("\"writtenRecords\":5")
        .doesNotContain("valueBytes");
    assertThat(Cli.run("info", table, "--chunks", "--json").out()).contains("\"liveBytes\":12,");
  }

  private String utilization() {
    return Cli.run("info", table).lines().stream()
        .filter(line -> line.startsWith("utilization"))
        .findFirst()
        .orElseThrow();
  }
}
