package io.zrecord.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.table.CareMode;
import io.zrecord.table.DropOptions;
import io.zrecord.table.DropResult;
import io.zrecord.table.RecordTable;
import io.zrecord.table.SweepResult;
import io.zrecord.table.TableSnapshot;
import java.io.IOException;
import java.util.UUID;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Drops a table with all its versions. */
@Command(
    name = "drop",
    description = {
      "Drops a table with all its versions and tags, and deletes their files.",
      "The directory, other files, and a manifest that says so stay."
    })
final class DropCommand extends Subcommand {
  @Parameters(paramLabel = "PATH", description = "directory of the table")
  private DatasetLocation path = DatasetLocation.NONE;

  @Option(
      names = "--purge",
      description = "also delete files that no version named and that are older than an hour")
  private boolean isPurging;

  @Option(names = "--dry-run", description = "say only what would be dropped")
  private boolean isDryRun;

  @Option(names = "--json", description = "print one JSON object")
  private boolean isJson;

  @Override
  public Integer call() throws IOException {
    DropOptions options = DropOptions.defaults()
        .withMode(isDryRun ? CareMode.DRY_RUN : CareMode.DELETE)
        .withLeftovers(isPurging ? DropOptions.Leftovers.SWEPT : DropOptions.Leftovers.KEPT);
    RecordTable table = RecordTable.at(path.storage());
    // Where there is none, the drop says what is there instead.
    UUID tableId = table.find().map(TableSnapshot::tableId).orElseGet(UUID::randomUUID);
    DropResult result = table.drop(tableId, options);
    if (isJson) {
      ObjectNode node = ValueJson.MAPPER
          .createObjectNode()
          .put("path", path.toString())
          .put("dryRun", isDryRun)
          .put("versions", result.versionCount())
          .put("files", result.fileCount());
      result
          .swept()
          .ifPresent(swept ->
              node.put("sweptFiles", swept.fileCount()).put("sweptBytes", swept.lengthBytes()));
      out().println(ValueJson.MAPPER.writeValueAsString(node));
    } else {
      out()
          .println((isDryRun ? "would drop " : "dropped ") + result.versionCount() + " versions, "
              + result.fileCount() + " files"
              + result.swept().map(DropCommand::swept).orElse(""));
    }
    out().flush();
    return ExitCodes.DONE;
  }

  private static String swept(SweepResult swept) {
    return "; deleted " + swept.fileCount() + " other files, " + swept.lengthBytes()
        + " bytes; left " + swept.youngFileCount() + " that are too young";
  }
}
