package io.zrecord.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Printable;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.cli.maintenance.SweepArguments;
import io.zrecord.table.Orphan;
import io.zrecord.table.RecordTable;
import io.zrecord.table.SweepResult;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Deletes the files of a table that no version names. */
@Command(
    name = "sweep",
    description = {
      "Finds the files of a table that no version names: files of failed writes and of expired versions.",
      "Deletes files with --delete only."
    })
final class SweepCommand extends Subcommand {
  @Parameters(paramLabel = "PATH", description = "directory of the table")
  private DatasetLocation path = DatasetLocation.NONE;

  @Mixin
  private SweepArguments arguments = new SweepArguments();

  @Option(names = "--list", description = "print the name of each file")
  private boolean isListing;

  @Option(names = "--json", description = "print one JSON object")
  private boolean isJson;

  @Override
  public Integer call() throws IOException {
    if (isJson && isListing) {
      throw misuse("--json and --list exclude each other");
    }
    SweepResult result = RecordTable.at(path.storage()).sweep(arguments.options(), this::list);
    if (isJson) {
      ObjectNode node = ValueJson.MAPPER
          .createObjectNode()
          .put("path", path.toString())
          .put("dryRun", !arguments.isDeleting())
          .put("files", result.fileCount())
          .put("bytes", result.lengthBytes())
          .put("youngFiles", result.youngFileCount())
          .put("youngBytes", result.youngBytes());
      out().println(ValueJson.MAPPER.writeValueAsString(node));
    } else {
      out()
          .println((arguments.isDeleting() ? "deleted " : "would delete ") + result.fileCount()
              + " files, "
              + result.lengthBytes() + " bytes; left " + result.youngFileCount() + " files, "
              + result.youngBytes() + " bytes, that are too young");
    }
    out().flush();
    return ExitCodes.DONE;
  }

  private void list(Orphan orphan) {
    if (isListing) {
      out()
          .println(Printable.of(orphan.name()) + ": " + orphan.fileCount() + " files, "
              + orphan.lengthBytes() + " bytes");
    }
  }
}
