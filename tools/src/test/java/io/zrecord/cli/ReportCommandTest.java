package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jsoup.Jsoup;
import org.jsoup.nodes.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** report: what it writes and what it refuses. */
final class ReportCommandTest {
  @TempDir
  Path directory;

  private Path table() {
    Path table = directory.resolve("table");
    RecordSchema schema =
        RecordSchema.builder().field("number", ElementType.I64).build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(table.toString(), schema, WriteOptions.defaults())) {
      RecordAppender appender = writer.newAppender();
      for (long i = 0; i < 30; i++) {
        appender.set("number", i * i).endRecord();
      }
      writer.commit();
    }
    return table;
  }

  @Test
  void aPageIsWrittenWithAsManyRecordsAsWanted() throws IOException {
    Path file = directory.resolve("report.html");
    Cli.Said said = Cli.run("report", table(), "-o", file, "--records", 3, "--no-progress");
    assertThat(said.exitCode()).as(said.err()).isZero();
    assertThat(said.out())
        .isEqualTo("wrote " + file + ", " + Files.size(file) + " bytes" + System.lineSeparator());
    assertThat(said.err()).isEmpty();
    Document page = Jsoup.parse(Files.readString(file));
    assertThat(page.select("#records tbody tr").eachText())
        .containsExactly("0 0", "14 196", "29 841");
  }

  @Test
  void wrongCallsLeaveNoFile() throws IOException {
    Path file = directory.resolve("report.html");
    Cli.Said none = Cli.run("report", directory.resolve("none"), "--output", file);
    assertThat(none.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(Cli.run("report", table()).err()).contains("--output");
    Cli.Said many = Cli.run("report", directory.resolve("table"), "-o", file, "--records", 1001);
    assertThat(many.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(many.err()).contains("1001").contains("0 to 1000");
    assertThat(file).doesNotExist();
    Files.writeString(file, "mine");
    Cli.Said taken = Cli.run("report", directory.resolve("table"), "-o", file);
    assertThat(taken.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(taken.err()).contains("it exists");
    assertThat(file).hasContent("mine");
  }
}
