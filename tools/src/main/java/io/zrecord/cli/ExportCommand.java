package io.zrecord.cli;

import io.zrecord.RecordDataset;
import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.npy.NpyExporter;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Writes fields to other files. */
@Command(
    name = "export",
    description = "Writes a field to a file of another format.",
    subcommands = ExportCommand.Npy.class)
final class ExportCommand extends Subcommand {
  @Override
  public Integer call() {
    throw misuse("Say what to export to: npy");
  }

  /** Exports a field to a NumPy array. */
  @Command(
      name = "npy",
      description = "Writes a field whose values have one shape to a NumPy array.")
  static final class Npy extends Subcommand {
    @Parameters(index = "0", paramLabel = "PATH", description = "directory of the dataset")
    private DatasetLocation path = DatasetLocation.NONE;

    @Parameters(index = "1", paramLabel = "FILE", description = "a file that does not exist")
    private Path file = Path.of("");

    @Option(names = "--field", required = true, paramLabel = "F", description = "the field")
    private String field = "";

    @Option(names = "--version", paramLabel = "V", description = "version of a table")
    private @Nullable Long version;

    @Override
    public Integer call() {
      RecordDataset.ReadOptions options = RecordDataset.ReadOptions.defaults();
      Storage storage = path.storage();
      try (RecordDataset dataset = version == null
          ? RecordDataset.open(storage, options)
          : RecordDataset.open(RecordTable.at(storage).version(version), options)) {
        NpyExporter.export(dataset, field, file);
        out().println("exported " + dataset.length() + " values of '" + field + "' to " + file);
      }
      return ExitCodes.DONE;
    }
  }
}
