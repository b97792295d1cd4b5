package io.zrecord.cli;

import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.store.RecordStore;
import io.zrecord.store.RecordValues;
import io.zrecord.store.StoreOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Appends records to a store. */
@Command(
    name = "append",
    description = {
      "Appends to a store: one record of the values given, or one for each line of a JSON file.",
      "Fields that are not given are absent."
    })
final class AppendCommand extends Subcommand {
  @Parameters(paramLabel = "STORE", description = "directory of the store, which must exist")
  private DatasetLocation path = DatasetLocation.NONE;

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
      names = "--jsonl",
      paramLabel = "FILE",
      description =
          "file with a JSON object a line, as 'get --as json' prints them: bytes in Base64, "
              + "null for absent")
  private @Nullable Path lines;

  @Override
  public Integer call() throws IOException {
    boolean hasValues = !texts.isEmpty() || !files.isEmpty();
    if (hasValues == (lines != null)) {
      throw misuse("Give the values of one record by --set and --file, or a file by --jsonl");
    }
    try (RecordStore store = RecordStore.open(path.store(), StoreOptions.defaults())) {
      if (lines == null) {
        long index = store.append(oneRecord(store));
        store.commit();
        out().println("appended record " + index);
      } else {
        appendLines(store, lines);
      }
    }
    return ExitCodes.DONE;
  }

  private RecordValues oneRecord(RecordStore store) throws IOException {
    RecordSchema schema = store.schema();
    RecordValues values = store.newValues();
    for (Map.Entry<String, String> text : texts.entrySet()) {
      FieldSpec field = schema.fields().get(schema.ordinal(text.getKey()));
      values.set(field.name(), ValueJson.parse(field, text.getValue()));
    }
    for (Map.Entry<String, Path> file : files.entrySet()) {
      schema.ordinal(file.getKey());
      values.set(file.getKey(), InputFiles.read(file.getValue()));
    }
    return values;
  }

  private void appendLines(RecordStore store, Path file) throws IOException {
    long first = store.pendingLength();
    long line = 0;
    RecordValues values = store.newValues();
    JsonLines parser = new JsonLines(store.schema());
    InputFiles.requireFile(file);
    try (BufferedReader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      for (String text = reader.readLine(); text != null; text = reader.readLine()) {
        line++;
        if (!text.isBlank()) {
          parser.read(text, values);
          store.append(values);
        }
      }
    } catch (IllegalArgumentException e) {
      store.commit();
      throw new IllegalArgumentException(
          "Cannot append line " + line + " of " + file + ": " + e.getMessage() + ". The "
              + (store.length() - first)
              + " records before it were appended; correct it and give the lines from there on",
          e);
    }
    store.commit();
    out().println("appended " + (store.length() - first) + " records from " + first + " on");
  }
}
