package io.zrecord.cli;

import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.table.RecordTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Gives a version of a table a name. */
@Command(
    name = "tag",
    description = {
      "Gives a version of a table a name. A version with a name is not expired.",
      "Names are 1 to 64 letters, digits, '.', '_' and '-', and neither a number nor 'latest'."
    })
final class TagCommand extends Subcommand {
  @Parameters(index = "0", paramLabel = "PATH", description = "directory of the table")
  private DatasetLocation path = DatasetLocation.NONE;

  @Parameters(index = "1", paramLabel = "VERSION", description = "number of the version")
  private long version;

  @Parameters(index = "2", paramLabel = "NAME", description = "the name")
  private String name = "";

  @Override
  public Integer call() {
    RecordTable.at(path.storage()).tag(version, name);
    out().println("version " + version + " of " + path + " is " + name);
    out().flush();
    return ExitCodes.DONE;
  }
}
