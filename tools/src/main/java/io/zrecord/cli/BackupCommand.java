package io.zrecord.cli;

import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.store.RecordStore;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Copies a store, also while a process writes it. */
@Command(
    name = "backup",
    description = {
      "Copies what is committed in a store to another place, which is a store then.",
      "A process may have the store open for writing. No other program copies an open store."
    })
final class BackupCommand extends Subcommand {
  @Parameters(index = "0", paramLabel = "STORE", description = "directory of the store")
  private DatasetLocation path = DatasetLocation.NONE;

  @Parameters(
      index = "1",
      paramLabel = "TARGET",
      description = "a directory or URI that is empty or does not exist")
  private DatasetLocation target = DatasetLocation.NONE;

  @Override
  public Integer call() {
    long records = RecordStore.copy(path.store(), target.storage());
    out().println("copied " + records + " records of " + path + " to " + target);
    out().flush();
    return ExitCodes.DONE;
  }
}
