package io.zrecord.cli;

import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableSnapshot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Changes values of records of a table. */
@Command(
    name = "update",
    description = {
      "Changes values of records of a table, in one commit that leaves all other files as they are.",
      "All named records get the same values. A field that is not given keeps its values."
    })
final class UpdateCommand extends Subcommand {
  @Parameters(index = "0", paramLabel = "TABLE", description = "directory of the table")
  private DatasetLocation path = DatasetLocation.NONE;

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "INDEX",
      description = "indices of the records to change")
  private List<Long> indices = List.of();

  @Option(
      names = "--set",
      paramLabel = "FIELD=VALUE",
      description = "a value: text as it is, numbers and arrays as in JSON; may be repeated")
  private Map<String, String> texts = new LinkedHashMap<>();

  @Option(
      names = "--file",
      paramLabel = "FIELD=FILE",
      description = "the bytes of a file as a value; may be repeated")
  private Map<String, Path> files = new LinkedHashMap<>();

  @Option(
      names = "--absent",
      paramLabel = "FIELD",
      description = "a field without a value from now on; may be repeated")
  private List<String> absent = List.of();

  @Override
  public Integer call() throws IOException {
    if (texts.isEmpty() && files.isEmpty() && absent.isEmpty()) {
      throw misuse("Give values by --set, --file or --absent");
    }
    TableSnapshot base = RecordTable.at(path.storage()).latest();
    RecordSchema schema = base.schema();
    RowChange change = RowChange.of(base);
    for (Map.Entry<String, String> text : texts.entrySet()) {
      FieldSpec field = schema.fields().get(schema.ordinal(text.getKey()));
      byte[] value = ValueJson.parse(field, text.getValue());
      indices.forEach(index -> change.update(index, field.name(), value));
    }
    for (Map.Entry<String, Path> file : files.entrySet()) {
      byte[] value = InputFiles.read(file.getValue());
      indices.forEach(index -> change.update(index, file.getKey(), value));
    }
    for (String field : absent) {
      indices.forEach(index -> change.update(index, field, null));
    }
    change.property("tool", "zrecord update");
    TableSnapshot after = change.commit();
    out()
        .println("updated " + indices.stream().distinct().count() + " records; " + path
            + " is at version " + after.version());
    return ExitCodes.DONE;
  }
}
