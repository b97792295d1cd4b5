package io.zrecord.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.Batch;
import io.zrecord.Datasets;
import io.zrecord.RecordSource;
import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Printable;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.FileStems;
import io.zrecord.table.IndexMap;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import io.zrecord.text.ShortText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints records, or writes their values to files. */
@Command(name = "get", description = "Prints records by their indices, or writes values to files.")
final class GetCommand extends Subcommand {
  @Parameters(index = "0", paramLabel = "PATH", description = "directory of the dataset")
  private DatasetLocation path = DatasetLocation.NONE;

  @Parameters(index = "1..*", arity = "1..*", paramLabel = "INDEX", description = "record indices")
  private List<Long> indices = List.of();

  @Option(
      names = "--field",
      paramLabel = "F",
      description = "a field to get; may be repeated (default: all)")
  private List<String> fields = List.of();

  @Option(
      names = "--as",
      paramLabel = "FORM",
      description = "form of the values: short (by type, the default), hex, text (UTF-8), json (an "
          + "object a line), or file (with --output)")
  private Form form = Form.SHORT;

  @Option(
      names = "--output",
      paramLabel = "DIR",
      description = "directory for the files <index>-<field> of --as file, none of which may exist")
  private @Nullable Path output;

  @Option(names = "--version", paramLabel = "V", description = "version of a table")
  private @Nullable Long version;

  @Option(
      names = "--index-map",
      description = "print the new index of each record, given its index in the version before that"
          + " of a reorder")
  private boolean isOfIndexMap;

  /** The form in which values are printed. */
  enum Form {
    SHORT,
    HEX,
    TEXT,
    JSON,
    FILE
  }

  @Override
  public Integer call() throws IOException {
    if ((form == Form.FILE) != (output != null)) {
      throw misuse("--as file and --output DIR go together");
    }
    if (isOfIndexMap) {
      printNewIndices();
      return ExitCodes.DONE;
    }
    OptionalLong wanted = version == null ? OptionalLong.empty() : OptionalLong.of(version);
    try (RecordSource records = Datasets.open(path.storage(), wanted)) {
      requireWithin(records.length());
      List<FieldSpec> specs = new ArrayList<>(records.schema().fields());
      if (!fields.isEmpty()) {
        specs.clear();
        for (String field : fields) {
          specs.add(records.schema().fields().get(records.schema().ordinal(field)));
        }
      }
      String[] names = specs.stream().map(FieldSpec::name).toArray(String[]::new);
      List<String> stems = FileStems.of(records.schema().fields());
      for (long index : indices) {
        try (Batch batch = records.gather(new long[] {index}, names)) {
          show(index, batch, specs, i -> stems.get(records.schema().ordinal(names[i])));
        }
      }
    }
    out().flush();
    return ExitCodes.DONE;
  }

  private void printNewIndices() {
    if (!fields.isEmpty() || (form != Form.SHORT && form != Form.JSON)) {
      throw misuse(
          "--index-map prints indices: --field does not go with it, and --as only as json");
    }
    RecordTable table = RecordTable.at(path.storage());
    TableSnapshot snapshot = version == null ? table.latest() : table.version(version);
    IndexMap map = snapshot
        .indexMap()
        .orElseThrow(() -> misuse("version " + snapshot.version() + " of " + path
            + " has no index map, because it is not the outcome of a reorder"));
    requireWithin(map.length());
    for (long index : indices) {
      long newIndex = map.newIndex(index);
      out()
          .println(
              form == Form.JSON
                  ? "{\"" + IndexMap.FIELD + "\":" + newIndex + "}"
                  : "record " + index + "\n  " + IndexMap.FIELD + ": " + newIndex);
    }
    out().flush();
  }

  private void requireWithin(long length) {
    for (long index : indices) {
      if (index < 0 || index >= length) {
        throw new IndexOutOfBoundsException("Cannot get record " + index + " of " + path
            + ": it has " + length + " records"
            + (length == 0 ? "" : ", 0 to " + (length - 1)));
      }
    }
  }

  private void show(
      long index, Batch batch, List<FieldSpec> specs, java.util.function.IntFunction<String> stem)
      throws IOException {
    if (form == Form.JSON) {
      out().println(ValueJson.MAPPER.writeValueAsString(json(batch, specs)));
      return;
    }
    out().println("record " + index);
    for (int i = 0; i < specs.size(); i++) {
      FieldSpec field = specs.get(i);
      String shown = batch.isAbsent(field.name(), 0)
          ? "absent"
          : shown(field, batch.bytes(field.name(), 0), index + "-" + stem.apply(i));
      out().println("  " + Printable.of(field.name()) + ": " + shown);
    }
  }

  private static ObjectNode json(Batch batch, List<FieldSpec> specs) {
    ObjectNode object = ValueJson.MAPPER.createObjectNode();
    for (FieldSpec field : specs) {
      if (batch.isAbsent(field.name(), 0)) {
        object.putNull(field.name());
      } else {
        object.set(field.name(), ValueJson.of(field, batch.bytes(field.name(), 0)));
      }
    }
    return object;
  }

  private String shown(FieldSpec field, byte[] value, String fileName) throws IOException {
    return switch (form) {
      case HEX -> HexFormat.of().formatHex(value);
      case TEXT -> new String(value, StandardCharsets.UTF_8);
      case FILE -> write(value, fileName);
      case SHORT, JSON -> Printable.of(ShortText.of(field, value));
    };
  }

  private String write(byte[] value, String fileName) throws IOException {
    Path directory = Files.createDirectories(java.util.Objects.requireNonNull(output));
    Path file = directory.resolve(fileName);
    if (Files.exists(file)) {
      throw new IllegalArgumentException(
          "Cannot write " + file + ": it exists; remove it or choose another directory");
    }
    Files.write(file, value, StandardOpenOption.CREATE_NEW);
    return value.length + " bytes in " + file;
  }
}
