package io.zrecord.cli;

import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Progress;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.cli.maintenance.LayoutArguments;
import io.zrecord.npy.NpyImporter;
import io.zrecord.table.TableSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Makes new tables from other files. */
@Command(
    name = "import",
    description = "Makes a new table of files.",
    subcommands = {ImportCommand.Npy.class, ImportCommand.Folder.class})
final class ImportCommand extends Subcommand {
  @Override
  public Integer call() {
    throw misuse("Say what to import: npy or files");
  }

  /** Imports NumPy arrays. */
  @Command(
      name = "npy",
      description = {
        "Makes a new table of NumPy arrays with the same number of records, one field each.",
        "A field is named as its file, or by NAME=FILE."
      })
  static final class Npy extends Subcommand {
    @Parameters(
        arity = "2..*",
        paramLabel = "[NAME=]FILE... PATH",
        hideParamSyntax = true,
        description = "arrays, and a directory that is empty or does not exist")
    private List<DatasetLocation> arguments = List.of();

    @Mixin
    private LayoutArguments layout = new LayoutArguments();

    @Override
    public Integer call() {
      DatasetLocation path = arguments.get(arguments.size() - 1);
      Map<String, Path> files = new LinkedHashMap<>();
      for (DatasetLocation array : arguments.subList(0, arguments.size() - 1)) {
        String argument = array.toString();
        int equals = argument.indexOf('=');
        Path file = Path.of(argument.substring(equals + 1));
        String name = equals > 0 ? argument.substring(0, equals) : nameOf(file);
        InputFiles.requireFile(file);
        if (files.put(name, file) != null) {
          throw misuse("Two arrays are named '" + name + "'; name them by NAME=FILE");
        }
      }
      TableSnapshot snapshot = NpyImporter.importFiles(files, path.storage(), layout.options());
      out()
          .println("imported " + snapshot.length() + " records of " + files.size() + " fields to "
              + path);
      return ExitCodes.DONE;
    }

    private static String nameOf(Path file) {
      return String.valueOf(file.getFileName()).replaceFirst("\\.npy$", "");
    }
  }

  /** Imports the files below a directory. */
  @Command(
      name = "files",
      description = {
        "Makes a new table of the files below a directory, in the order of their names: fields path"
            + " (utf8) and content (bytes).",
        "Links are not followed. One file at a time is in memory."
      })
  static final class Folder extends Subcommand {
    @Parameters(index = "0", paramLabel = "DIR", description = "directory of files")
    private Path directory = Path.of("");

    @Parameters(
        index = "1",
        paramLabel = "PATH",
        description = "a directory that is empty or does not exist")
    private DatasetLocation path = DatasetLocation.NONE;

    @Mixin
    private LayoutArguments layout = new LayoutArguments();

    @Option(names = "--no-progress", description = "hide the progress bar")
    private boolean isQuiet;

    @Override
    public Integer call() throws IOException {
      FolderImport folder = new FolderImport(directory);
      TableSnapshot snapshot;
      try (Progress progress = Progress.of("import", err(), !isQuiet)) {
        snapshot = folder.to(path, layout.options(), progress);
      }
      out()
          .println("imported " + snapshot.length() + " files, " + folder.contentBytes()
              + " bytes, to " + path
              + (folder.skippedCount() == 0
                  ? ""
                  : "; left out " + folder.skippedCount() + " links and special files"));
      return ExitCodes.DONE;
    }
  }
}
