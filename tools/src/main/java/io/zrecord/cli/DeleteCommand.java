package io.zrecord.cli;

import io.zrecord.DatasetKind;
import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreOptions;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableSnapshot;
import java.util.Comparator;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Deletes records of a store or a table. */
@Command(
    name = "delete",
    description = {
      "Deletes records of a store or a table.",
      "In a table, later records move down, and the order stays. The deletion is one commit, which"
          + " leaves all other files as they are: versions before still have the records.",
      "In a store, a deletion moves the last record to the place that becomes free. The indices are those from"
          + " before the command: they are deleted from the highest to the lowest, so that no"
          + " deletion changes the index of one that is still to come. What moved is printed."
    })
final class DeleteCommand extends Subcommand {
  @Parameters(index = "0", paramLabel = "PATH", description = "directory of the store or the table")
  private DatasetLocation path = DatasetLocation.NONE;

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "INDEX",
      description = "indices of the records to delete")
  private List<Long> indices = List.of();

  @Override
  public Integer call() {
    return DatasetKind.of(path.storage()) == DatasetKind.TABLE
        ? deleteFromTable()
        : deleteFromStore();
  }

  private int deleteFromTable() {
    RowChange change = RowChange.of(RecordTable.at(path.storage()).latest());
    indices.forEach(change::delete);
    change.property("tool", "zrecord delete");
    TableSnapshot after = change.commit();
    out()
        .println("deleted " + indices.stream().distinct().count() + " records; " + after.length()
            + " are left in version " + after.version());
    return ExitCodes.DONE;
  }

  private int deleteFromStore() {
    List<Long> descending =
        indices.stream().distinct().sorted(Comparator.reverseOrder()).toList();
    MovedRecords moved = new MovedRecords();
    try (RecordStore store = RecordStore.open(path.store(), StoreOptions.defaults())) {
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
