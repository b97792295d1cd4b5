package io.zrecord.cli;

import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Makes a table again what it was at a version. */
@Command(
    name = "rollback",
    description = {
      "Makes a table again what it was at a version: records, fields, partitions, declarations.",
      "Publishes a new version, and writes no record. The versions since stay, and so do tags."
    })
final class RollbackCommand extends Subcommand {
  @Parameters(index = "0", paramLabel = "PATH", description = "directory of the table")
  private DatasetLocation path = DatasetLocation.NONE;

  @Parameters(index = "1", paramLabel = "VERSION", description = "number of the version, or a tag")
  private String version = "";

  @Override
  public Integer call() {
    RecordTable table = RecordTable.at(path.storage());
    long target = version.matches("[0-9]{1,18}")
        ? Long.parseLong(version)
        : table.tagged(version).version();
    TableSnapshot after = table.rollBack(target);
    out()
        .println("version " + after.version() + " of " + path + " is as version " + target
            + ", with " + after.length() + " records");
    out().flush();
    return ExitCodes.DONE;
  }
}
