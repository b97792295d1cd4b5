package io.zrecord.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.Datasets;
import io.zrecord.RecordSource;
import io.zrecord.changes.NetChanges;
import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.RecordMoves;
import io.zrecord.changes.TableChanges;
import io.zrecord.changes.VersionChanges;
import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Printable;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints what versions of a table inserted, deleted and changed. */
@Command(
    name = "changes",
    description = "Prints which records versions of a table inserted, deleted and changed.")
final class ChangesCommand extends Subcommand {
  @Parameters(paramLabel = "PATH", description = "directory of the table")
  private DatasetLocation path = DatasetLocation.NONE;

  @Option(
      names = "--from",
      paramLabel = "A",
      description = "version before the first one that is told (default: the one before --to)")
  private @Nullable Long from;

  @Option(
      names = "--to",
      paramLabel = "B",
      description = "last version that is told (default: the newest)")
  private @Nullable Long to;

  @Option(
      names = "--json",
      description = "print an object a line for each record, with its values before and after")
  private boolean isJson;

  @Option(
      names = "--net",
      description = "tell each record once, however many versions changed the record")
  private boolean isNet;

  @Override
  public Integer call() throws IOException {
    Storage storage = path.storage();
    TableChanges changes = TableChanges.of(storage);
    long last = to == null ? RecordTable.at(storage).latest().version() : to;
    long first = from == null ? last - 1 : from;
    if (isNet) {
      print(storage, changes.net(first, last));
    } else {
      for (VersionChanges version : changes.between(first, last).toList()) {
        print(storage, version);
      }
    }
    out().flush();
    return ExitCodes.DONE;
  }

  private void print(Storage storage, NetChanges net) throws IOException {
    List<RecordChanges> records = List.of(net.records());
    if (isJson) {
      ObjectNode head = ValueJson.MAPPER
          .createObjectNode()
          .put("version", net.to())
          .put("versionBefore", net.from());
      printRecords(storage, head, net.from(), net.to(), records, RecordMoves.NONE);
    } else {
      printCounts(storage, "version " + net.from() + " to version " + net.to(), net.to(), records);
    }
  }

  private void print(Storage storage, VersionChanges version) throws IOException {
    List<RecordChanges> records = version.read(storage);
    long number = version.version();
    if (isJson) {
      ObjectNode head = ValueJson.MAPPER.createObjectNode().put("version", number);
      printRecords(storage, head, number - 1, number, records, version.moves(storage));
    } else {
      String label =
          "version " + number + " (" + version.operation() + ", " + version.timestamp() + ")";
      printCounts(storage, label, number, records);
      int moved = version.moves(storage).count();
      if (moved > 0) {
        out().println("  " + moved + " of the deleted ones were inserted in another partition");
      }
    }
  }

  private void printCounts(
      Storage storage, String label, long version, List<RecordChanges> changes) {
    long inserted = 0;
    long deleted = 0;
    long changed = 0;
    Map<Integer, Long> byField = new TreeMap<>();
    for (RecordChanges records : changes) {
      inserted += records.inserted().count();
      deleted += records.deleted().count();
      changed += records.changedBefore().count();
      records.fields().forEach((id, indices) -> byField.merge(id, indices.count(), Long::sum));
    }
    out()
        .println(label + ": " + inserted + " inserted, " + deleted + " deleted, " + changed
            + " changed");
    if (!byField.isEmpty()) {
      RecordSchema schema = RecordTable.at(storage).version(version).schema();
      out()
          .println("  "
              + byField.entrySet().stream()
                  .map(field -> name(schema, field.getKey()) + ": " + field.getValue())
                  .collect(Collectors.joining(", ")));
    }
  }

  private static String name(RecordSchema schema, int fieldId) {
    return schema.find(fieldId).map(field -> Printable.of(field.name())).orElse("field " + fieldId);
  }

  private void printRecords(
      Storage storage,
      ObjectNode head,
      long from,
      long to,
      List<RecordChanges> changes,
      RecordMoves moves)
      throws IOException {
    boolean needsAfter = changes.stream().anyMatch(records -> !records.equals(RecordChanges.NONE));
    if (!needsAfter) {
      return;
    }
    boolean needsBefore = changes.stream()
        .anyMatch(
            records -> !records.deleted().isEmpty() || !records.changedBefore().isEmpty());
    try (RecordSource after = Datasets.open(storage, OptionalLong.of(to));
        RecordSource before = needsBefore ? Datasets.open(storage, OptionalLong.of(from)) : after) {
      ChangeLines lines = new ChangeLines(out(), head, before, after, moves);
      for (RecordChanges records : changes) {
        lines.print(records);
      }
    }
  }
}
