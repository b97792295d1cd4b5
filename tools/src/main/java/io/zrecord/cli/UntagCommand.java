package io.zrecord.cli;

import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.table.RecordTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Removes the name of a version of a table. */
@Command(name = "untag", description = "Removes a tag. The version stays until it is expired.")
final class UntagCommand extends Subcommand {
  @Parameters(index = "0", paramLabel = "PATH", description = "directory of the table")
  private DatasetLocation path = DatasetLocation.NONE;

  @Parameters(index = "1", paramLabel = "NAME", description = "the tag")
  private String name = "";

  @Override
  public Integer call() {
    RecordTable.at(path.storage()).untag(name);
    out().println(path + " has no tag " + name + " any more");
    out().flush();
    return ExitCodes.DONE;
  }
}
