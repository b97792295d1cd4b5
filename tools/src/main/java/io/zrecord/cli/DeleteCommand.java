package io.zrecord.cli;

import io.zrecord.RecordStore;
import io.zrecord.StoreOptions;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Subcommand;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Deletes records of a store. */
@Command(
    name = "delete",
    description = {
      "Deletes records of a store.",
      "A deletion moves the last record to the place that becomes free. The indices are those from"
          + " before the command: they are deleted from the highest to the lowest, so that no"
          + " deletion changes the index of one that is still to come. What moved is printed."
    })
final class DeleteCommand extends Subcommand {
  @Parameters(index = "0", paramLabel = "STORE", description = "directory of the store")
  private Path path = Path.of("");

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "INDEX",
      description = "indices of the records to delete")
  private List<Long> indices = List.of();

  @Override
  public Integer call() {
    List<Long> descending =
        indices.stream().distinct().sorted(Comparator.reverseOrder()).toList();
    MovedRecords moved = new MovedRecords();
    try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
      for (long index : descending) {
        if (index < 0 || index >= store.length()) {
          throw new IndexOutOfBoundsException("Cannot delete record " + index + ": " + path
              + " has " + store.length() + " records, 0 to " + (store.length() - 1)
              + "; nothing was deleted");
        }
      }
      for (long index : descending) {
        moved.add(store.delete(index));
      }
      store.commit();
      out().println("deleted " + descending.size() + " records; " + store.length() + " are left");
    }
    moved.print(out());
    return ExitCodes.DONE;
  }
}
