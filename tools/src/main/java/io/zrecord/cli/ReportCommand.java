package io.zrecord.cli;

import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Progress;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.cli.maintenance.ByteSizeConverter;
import io.zrecord.report.DatasetReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Writes a page about a dataset. */
@Command(
    name = "report",
    description = {
      "Writes one HTML page that shows how the chunks are used, the sizes of chunks, shards and values, the versions, and"
          + " some records. It loads nothing and runs no script.",
      "Reads the entries of all records, or of a sample of the shards of a large table, and the values"
          + " of the records that it shows."
    })
final class ReportCommand extends Subcommand {
  @Parameters(paramLabel = "PATH", description = "directory of the dataset")
  private DatasetLocation path = DatasetLocation.NONE;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      required = true,
      description = "the page, a file that does not exist")
  private Path output = Path.of("");

  @Option(
      names = "--records",
      paramLabel = "N",
      description = "number of records to show, 0 to 1000 (default 12)")
  private int recordCount = 12;

  @Option(
      names = "--max-image-bytes",
      paramLabel = "BYTES",
      converter = ByteSizeConverter.class,
      description = "size of the largest image that is shown; larger images are named (default 1m)")
  private long maxImageBytes = 1 << 20;

  @Option(
      names = "--max-entries",
      paramLabel = "N",
      description = "number of entries of a table beyond which only a sample of its shards is "
          + "inspected (default 200000000)")
  private long maxEntries = 200_000_000;

  @Option(names = "--no-progress", description = "hide the progress bar")
  private boolean isQuiet;

  @Override
  public Integer call() throws IOException {
    try (Progress progress = Progress.of("report", err(), !isQuiet)) {
      DatasetReport.of(path.storage())
          .records(recordCount)
          .maxImageBytes(maxImageBytes)
          .maxEntries(maxEntries)
          .onProgress(progress::at)
          .write(output);
    }
    out().println("wrote " + output + ", " + Files.size(output) + " bytes");
    out().flush();
    return ExitCodes.DONE;
  }
}
